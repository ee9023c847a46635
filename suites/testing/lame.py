# SPDX-License-Identifier: Apache-2.0
"""A worker that keeps the protocol but for one lapse, which its argument names. It serves AveragePool over windows of one
element, whose output is its input, and refuses what a doctor makes up. Without an argument it keeps all of it."""
import fcntl
import json
import os
import signal
import subprocess
import sys
import time

LAPSE = sys.argv[1] if len(sys.argv) > 1 else ""
ON_STDOUT = LAPSE in ("talks on stdout", "replies on stdout")
REPLIES = 1 if ON_STDOUT or LAPSE == "replies on stdout unasked" else int(os.environ["ASSAY_REPLY_FD"])
F32, F16, F64, BF16 = 1, 10, 11, 16
BYTES = {F32: 4, F16: 2, F64: 8, BF16: 2}


class Refused(Exception):
    pass


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """The fields of a protobuf message, in order: number and value."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise Refused("a wire type nobody uses here")
        if at > len(data):
            raise Refused("the message ends too early")
        yield tag >> 3, value


def check_model(model):
    try:
        found = dict(fields(model))
    except (Refused, IndexError):
        if LAPSE == "answers half a model" and not model.startswith(b"\xff"):
            return
        raise
    node = dict(fields(dict(fields(found.get(7, b""))).get(1, b"")))
    name = node.get(4, b"").decode()
    if name != "AveragePool" and not (name and LAPSE == "answers for any operator"):
        raise Refused(f"no operator {name if LAPSE in ('long reasons', 'raw reasons') else name[:100]!s}")


def check_tensor(part):
    found = list(fields(part))
    dims, data = [v for k, v in found if k == 1], dict(found)
    count = 1
    for extent in dims:
        count *= extent
    if count == 0 and LAPSE == "dies of empty tensors":
        os._exit(9)
    if len(data.get(9, b"")) != count * BYTES[data[2]] and LAPSE != "pads tensors":
        raise Refused("dims and raw_data disagree")
    return data[2]


def retyped(part, old, new):
    return part.replace(bytes([0x10, old]), bytes([0x10, new]), 1)


def output_of(part):
    if not part and LAPSE == "makes inputs up":
        return b"\x08\x00\x10\x01"
    if not part:
        raise Refused("an input is absent")
    if len(part) > 1 << 20 and LAPSE == "small buffers":
        os._exit(9)
    dtype = check_tensor(part)
    if LAPSE == "bf16 as f16" and dtype == BF16:
        return retyped(part, BF16, F16)
    if LAPSE == "swaps bytes of f64" and dtype == F64:
        return part[:-8] + part[-8:][::-1]
    return part


def outputs_of(model, sets):
    try:
        check_model(model)
        outputs = []
        for parts in sets:
            if not parts and LAPSE != "answers without inputs":
                raise Refused("an input is missing")
            outputs.append([output_of(part) for part in parts[:1] or [b"\x08\x00\x10\x01"]])
        return outputs
    except (IndexError, KeyError) as error:
        raise Refused(f"cannot be parsed: {error!r}") from error


def answers_anyway(model, sets):
    """The lapses that answer a question which deserves a refusal."""
    part = sets[0][0] if sets and sets[0] else b""
    return (LAPSE == "answers anything" and model.startswith(b"\xff") or LAPSE == "answers an empty model" and not model
            or LAPSE == "answers half a tensor" and 0 < len(part) < 20 and part[:2] != b"\x08\x00")


def reply_to(header, model, sets):
    if answers_anyway(model, sets):
        return [[b"\x08\x00\x10\x01"]]
    if LAPSE == "hangs on no model" and model.startswith(b"\xff"):
        time.sleep(600)
    if LAPSE == "crashes":
        os.kill(os.getpid(), signal.SIGSEGV)
    if LAPSE == "crashes on no model" and model.startswith(b"\xff"):
        os.kill(os.getpid(), signal.SIGSEGV)
    if LAPSE == "refuses everything":
        raise Refused("no")
    options = header["options"]
    if LAPSE == "one level of optimisation" and options["optimization"] == "basic":
        raise Refused("cannot do that")
    if LAPSE == "dies of options" and options["optimization"] == "turbo":
        sys.exit("KeyError: turbo")
    outputs = outputs_of(model, sets)
    if LAPSE == "stale outputs" and len(outputs) > 2:
        outputs = [outputs[0] for _ in outputs]
    if LAPSE == "two sets only":
        outputs = outputs[:2]
    return outputs


def frame_of(header, model, sets):
    answer, outputs = {"id": header["id"]}, []
    if LAPSE == "ids in ASCII":
        answer["id"] = answer["id"].encode("ascii", "replace").decode()
    if LAPSE == "ids of its own":
        answer["id"] = "1"
    try:
        outputs = reply_to(header, model, sets)
        answer.update(outcome="outputs", sets=[[len(part) for part in parts] for parts in outputs])
    except Refused as reason:
        if LAPSE == "raw reasons":
            return f'{{"id":"{header["id"]}","outcome":"refused","because":"{reason}"}}\n'.encode()
        answer.update(outcome="refused", because=str(reason))
    surplus = b"\n" if LAPSE == "a newline behind" else b""
    return json.dumps(answer).encode() + b"\n" + b"".join(sum(outputs, [])) + surplus


def say(frame):
    while frame:
        frame = frame[os.write(REPLIES, frame):]


described = 0


def description():
    global described
    described += 1
    capabilities = {"operators": ["AveragePool-11", "AveragePool-22"]}
    line = {"assay": 1, "backend": "lame", "version": "1", "device": "cpu", "capabilities": capabilities}
    line.update({
        "another protocol": {"assay": 2},
        "no name": {"backend": None},
        "misspelt arithmetic": {"arithmetic": {"acumulator": "f32"}},
        "misspelt capabilities": {"capabilities": {"types": ["f32"], "opset": 13}},
        "operators without versions": {"capabilities": {"operators": ["AveragePool"]}},
        "types of numpy": {"capabilities": {**capabilities, "types": ["float32"]}},
        "options as text": {"options": "precision"},
        "options of its own": {"options": {"precision": ["f32"], "layout": []}},
        "another version each time": {"version": str(described)},
    }.get(LAPSE, {}))
    if ON_STDOUT:
        line["replies"] = "stdout"
    return json.dumps({key: value for key, value in line.items() if value is not None}).encode() + b"\n"


buffer = b""


def read(size):
    """Exactly so many bytes, or None at the end of stdin."""
    global buffer
    while len(buffer) < size:
        chunk = os.read(0, 1 << 16)
        if not chunk:
            return None
        buffer += chunk
    part, buffer = buffer[:size], buffer[size:]
    return part


def read_line():
    global buffer
    while b"\n" not in buffer:
        chunk = os.read(0, 1 << 16)
        if not chunk:
            return None
        if LAPSE == "headers in one read" and not chunk.endswith(b"\n") and b"\n" not in chunk:
            sys.exit("no newline")
        buffer += chunk
    return read(buffer.index(b"\n") + 1)


def parsed(line):
    if LAPSE == "finds keys by place" and not line.startswith((b'{"ask"', b'{"assay"', b'{"later"')):
        sys.exit("that is no question")
    header = json.loads(line)
    if LAPSE == "one way to describe" and header.get("ask") == "describe" and line != b'{"assay":1,"ask":"describe"}\n':
        sys.exit("unknown key")
    if LAPSE == "no new keys" and header.get("ask") == "run" and "later" in header:
        sys.exit("unknown key later")
    return header


def outlive(lapse):
    if LAPSE == lapse:
        time.sleep(600)
    os._exit(0)


def serve(line):
    global buffer
    try:
        header = parsed(line)
    except ValueError:
        if LAPSE == "waits after nonsense":
            time.sleep(600)
        sys.exit("that is no JSON")
    if header["ask"] == "describe":
        say(description())
    elif header["ask"] == "run":
        if LAPSE == "answers early":
            say(b'{"id":')
        model = read(header["model"])
        sets = [[read(size) for size in sizes] for sizes in header["sets"]] if model is not None else []
        if model is None or any(part is None for parts in sets for part in parts):
            outlive("outlives half a question")
        if LAPSE == "talks on stdout":
            say(b"running a model\n")
        say(frame_of(header, model, sets)[6 if LAPSE == "answers early" else 0:])
        if LAPSE == "forgets what it has read":
            buffer = b""
    elif LAPSE == "dances":
        time.sleep(600)
    else:
        sys.exit("an unknown question")


if LAPSE == "cannot start":
    sys.exit("ModuleNotFoundError: no module named 'moon'")
if LAPSE == "never describes itself":
    time.sleep(600)
if LAPSE == "holds a lock":
    lock = open(sys.argv[2], "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit("somebody holds the lock")
if LAPSE == "leaves a daemon":
    subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(20)"], start_new_session=True,
                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
while (request := read_line()) is not None:
    serve(request)
outlive("outlives stdin")
