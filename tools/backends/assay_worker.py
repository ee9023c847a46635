# SPDX-License-Identifier: Apache-2.0
"""The frame loop of assay's Python workers (README.md in this folder).

    import assay_worker
    assay_worker.serve(description, run, not_implemented=("no kernel for",))

`run(model, sets, options)` gets the bytes of a ModelProto and, per data set, the bytes of one TensorProto per graph
input (None where absent). It returns, per data set, a list of TensorProtos, or raises Unsupported or Refused; any other
exception counts as a refusal too, with its type and text, unless it is a NotImplementedError or says one of the phrases
of `not_implemented`, in which the runtime tells that it has no implementation. array_of, proto_of and typed_proto are
there for runtimes that speak numpy or bytes.
"""
import ctypes
import json
import math
import os
import signal
import socket
import sys

# Threads that a library starts when it is imported keep a worker from being forked, and no case is large.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A worker may be named like the library it serves; its folder must not stand in the way of that library.
sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != os.path.dirname(os.path.abspath(__file__))]


class Unsupported(Exception):
    """The runtime has no implementation of what the model asks for."""


class Refused(Exception):
    """The runtime turns this model or these inputs away."""


def strings_of(proto):
    """The array of a TensorProto of strings, whose zeros at the end onnx.numpy_helper drops."""
    import numpy

    return numpy.array([text.decode() for text in proto.string_data], dtype=object).reshape(list(proto.dims))


def array_of(part, strings=False, small=False):
    """The numpy array of a TensorProto; bfloat16 and types of eight bits or less are those of ml_dtypes. None stays None.
    Where the runtime does not take strings or small types as numpy has them, the model is unsupported here."""
    import onnx.numpy_helper

    if part is None:
        return None
    proto = onnx.TensorProto.FromString(part)
    if proto.data_type == onnx.TensorProto.STRING:
        if not strings:
            raise Unsupported("this worker hands no strings over")
        return strings_of(proto)
    if proto.data_type > onnx.TensorProto.BFLOAT16 and not small:
        raise Unsupported(f"this worker hands no {onnx.TensorProto.DataType.Name(proto.data_type)} over")
    return onnx.numpy_helper.to_array(proto)


def proto_of(name, value):
    """The TensorProto of an array, under the type it has. What is no array is an error, never made one."""
    import numpy
    import onnx.numpy_helper

    if value is None or isinstance(value, (str, bytes, dict)):
        raise TypeError(f"output {name} is a {type(value).__name__}, not an array")
    return onnx.numpy_helper.from_array(numpy.asarray(value), name).SerializeToString()


def typed_proto(name, element_type, shape, content):
    """The TensorProto of bytes, under the element type that the runtime names, where its size fits."""
    import onnx.helper

    size = math.prod(shape) * onnx.helper.tensor_dtype_to_np_dtype(element_type).itemsize
    if len(content) != size:
        kind = onnx.TensorProto.DataType.Name(element_type)
        raise TypeError(f"output {name} has {len(content)} bytes; {kind} {list(shape)} takes {size}")
    return onnx.TensorProto(name=name, data_type=element_type, dims=shape, raw_data=content).SerializeToString()


def one_line(text):
    return " ".join(str(text).split())[:2000]


def open_replies(description):
    """The reply pipe of the host; without one, stdout, which is then kept from the libraries and announced."""
    number = os.environ.get("ASSAY_REPLY_FD")
    if number is not None:
        os.set_inheritable(int(number), False)
        return os.fdopen(int(number), "wb")
    description["replies"] = "stdout"
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return replies


def may_fork():
    """Whether a forked process is as good as a started one: no other thread runs, and no device is open."""
    if len(os.listdir("/proc/self/task")) != 1:
        return False
    links = [os.path.join("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
    targets = [os.readlink(link) for link in links if os.path.lexists(link)]
    return not any(target.startswith(("/dev/nvidia", "/dev/dri/", "/dev/kfd")) for target in targets)


def take(descriptors):
    """Makes the descriptors that came with a request those of this process."""
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)


def let_go():
    """Leaves the descriptors of the first process to it: a pipe of it shall end with it."""
    nothing = os.open("/dev/null", os.O_RDWR)
    for number in range(4):  # those that come later have other numbers
        os.dup2(nothing, number)
    os.close(nothing)


def fork_on_request():
    """Stays, and forks a process for every request of the host; returns in each of these. See README.md, "Fork"."""
    named = os.environ.get("ASSAY_FORK_FD")
    if named is None or "ASSAY_REPLY_FD" not in os.environ or not may_fork():
        return
    host = socket.socket(fileno=int(named))
    descriptors = []  # the first process has those of the program
    while True:
        told, tell = os.pipe()  # closed once the host knows of the child: nothing that the child does may come before
        child = os.fork()
        if child == 0:
            os.close(tell)
            os.read(told, 1)
            os.close(told)
            host.close()
            os.setpgid(0, 0)
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
            take(descriptors)
            return
        for descriptor in descriptors:
            os.close(descriptor)
        if not descriptors:
            let_go()
        host.send(b"forked %d" % child)
        os.close(told)
        os.close(tell)
        host.send(b"ended %d" % os.waitpid(child, 0)[1])
        request, descriptors, _, _ = socket.recv_fds(host, 64, 4)
        if not request:
            os._exit(0)


def read_part(requests, size):
    part = requests.read(size)
    if len(part) < size:
        raise EOFError("the host stopped in the middle of a request")
    return part


def is_not_implemented(error, phrases):
    text = str(error).lower()
    return isinstance(error, NotImplementedError) or any(phrase.lower() in text for phrase in phrases)


def answer(run, not_implemented, header, model, sets):
    try:
        outputs = run(model, sets, header.get("options", {}))
        return {"outcome": "outputs", "sets": [[len(part) for part in parts] for parts in outputs]}, outputs
    except Unsupported as reason:
        return {"outcome": "unsupported", "because": one_line(reason) or "not implemented"}, []
    except Refused as reason:
        return {"outcome": "refused", "because": one_line(reason) or "refused"}, []
    except MemoryError:
        raise  # says nothing about the model: let the host see a worker that died
    except Exception as error:  # noqa: BLE001, whatever the runtime under test raises
        outcome = "unsupported" if is_not_implemented(error, not_implemented) else "refused"
        return {"outcome": outcome, "because": one_line(f"{type(error).__name__}: {error}")}, []


def serve(description, run, not_implemented=()):
    description = {"assay": 1, **description}
    fork_on_request()
    requests = sys.stdin.buffer
    replies = open_replies(description)
    for line in iter(requests.readline, b""):
        header = json.loads(line)
        reply, outputs = description, []
        if header["ask"] not in ("describe", "run"):
            sys.exit(f"an unknown question: {one_line(line.decode())}")
        if header["ask"] == "run":
            model = read_part(requests, header["model"])
            sets = [[read_part(requests, size) if size else None for size in sizes] for sizes in header["sets"]]
            reply, outputs = answer(run, not_implemented, header, model, sets)
            reply = {"id": header["id"], **reply}
        replies.write(json.dumps(reply).encode() + b"\n")
        for parts in outputs:
            replies.writelines(parts)
        replies.flush()
