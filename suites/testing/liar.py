# SPDX-License-Identifier: Apache-2.0
"""A worker that lies in every way of the protocol. What it does with a case is the text of the model, or what the file
that --script names says for its id; how it describes itself is its argument. On anything else it is honest and answers
with the inputs."""
import json
import mmap
import os
import signal
import subprocess
import sys
import time

DESCRIPTION = {"assay": 1, "backend": "liar", "version": "1", "device": "cpu"}


def edited(header, sets, /, **changes):
    line = {"id": header["id"], "outcome": "outputs", "sets": [[len(part) for part in parts] for parts in sets]}
    line = {key: value for key, value in {**line, **changes}.items() if value is not None}
    return json.dumps(line).encode() + b"\n" + b"".join(part for parts in sets for part in parts)


def honest(header, sets):
    return edited(header, sets)


def refusal(header, because):
    return json.dumps({"id": header["id"], "outcome": "refused", "because": because}).encode() + b"\n"


def say(frame):
    while frame:
        frame = frame[os.write(REPLIES, frame):]


def die(number):
    os.kill(os.getpid(), number)


def eat_memory():
    hoard = []
    while True:
        hoard.append(b"\xff" * (1 << 24))


def allocate_100_gb():
    block = b"\xff" * (1 << 24)
    hoard = mmap.mmap(-1, 100 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE)
    for at in range(0, len(hoard), len(block)):
        hoard[at:at + len(block)] = block


MAP_NORESERVE = 0x4000  # Python 3.11 does not name it
HOARD = []


def grow():
    HOARD.append(b"\xff" * (1 << 25))


def leave_a_daemon():
    """A grandchild in a session of its own, without any of our pipes."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 256)
            time.sleep(60)
        os._exit(0)
    os.wait()


def fork_bomb():
    """256 processes, each in a session of its own; the end comes after ten seconds even where nothing stops it."""
    end = time.time() + 10
    for _ in range(8):
        while time.time() < end:
            try:
                if os.fork() == 0:
                    os.setsid()
                break
            except BlockingIOError:
                time.sleep(0.01)
    time.sleep(max(0, end - time.time()))


def loop():
    while True:
        pass


def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def flood(descriptor):
    while True:
        os.write(descriptor, b"x" * (1 << 16))


def sees_itself():
    with open(f"/proc/{os.getpid()}/cmdline", "rb") as file:
        return b"liar.py" in file.read()


def leave_a_child_and(then):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    then()


def chat():
    for _ in range(2000):
        os.write(1, b'{"id": "chatter", "outcome": "outputs", "sets": [[1]]}\n' * 4)
        os.write(2, b"\xff\xfe\x00 warning \x1b[31m\n" * 4)


def half(frame):
    say(frame[: len(frame) // 2])


ANSWERS = {
    "honest": lambda h, s: say(honest(h, s)),
    "chatty": lambda h, s: (chat(), say(honest(h, s))),
    "piecemeal": lambda h, s: [say(bytes([b])) for b in honest(h, s)],
    "refuses": lambda h, s: say(refusal(h, "no\nthanks\x1b[31m\u202e")),
    "refuses at length": lambda h, s: say(refusal(h, "no " * 10000)),
    "not implemented": lambda h, s: say(edited(h, [], outcome="unsupported", because="no kernel", sets=None)),
    "segfaults": lambda h, s: die(signal.SIGSEGV),
    "aborts with words": lambda h, s: (os.write(2, b"first\nfree(): invalid \x07pointer\n"), die(signal.SIGABRT)),
    "exits 0": lambda h, s: os._exit(0),
    "exits 7": lambda h, s: os._exit(7),
    "answers and dies": lambda h, s: (say(honest(h, s)), die(signal.SIGSEGV)),
    "closes its stdin": lambda h, s: (os.close(0), say(honest(h, s)), time.sleep(600)),
    "answers and hangs": lambda h, s: (say(honest(h, s)), time.sleep(600)),
    "hangs": lambda h, s: time.sleep(600),
    "loops": lambda h, s: loop(),
    "allocates 100 GB": lambda h, s: allocate_100_gb(),
    "grows": lambda h, s: (grow(), say(honest(h, s))),
    "leaves a daemon": lambda h, s: (leave_a_daemon(), say(honest(h, s))),
    "fork bomb": lambda h, s: (fork_bomb(), say(honest(h, s))),
    "looks at itself": lambda h, s: say(honest(h, s) if sees_itself() else refusal(h, "a stranger's /proc")),
    "hangs with a child": lambda h, s: leave_a_child_and(lambda: time.sleep(600)),
    "dies with a child": lambda h, s: leave_a_child_and(lambda: die(signal.SIGSEGV)),
    "answers too late": lambda h, s: (time.sleep(3), say(honest(h, s))),
    "works": lambda h, s: (work(0.5), say(honest(h, s))),
    "answers late": lambda h, s: (time.sleep(0.6), say(honest(h, s))),
    "eats memory": lambda h, s: eat_memory(),
    "half, exits 0": lambda h, s: (half(honest(h, s)), os._exit(0)),
    "half, segfaults": lambda h, s: (half(honest(h, s)), die(signal.SIGSEGV)),
    "half, hangs": lambda h, s: (half(honest(h, s)), time.sleep(600)),
    "half a header, exits 0": lambda h, s: (say(b'{"id"'), os._exit(0)),
    "closes every pipe": lambda h, s: (os.closerange(0, 256), time.sleep(600)),
    "closes the reply pipe": lambda h, s: (os.close(REPLIES), time.sleep(600)),
    "no JSON": lambda h, s: say(b"hello\x00\xff world\n"),
    "deep JSON": lambda h, s: say(b"[" * 400000 + b"]" * 400000 + b"\n"),
    "deep size": lambda h, s: say(edited(h, s, sets=[[[[1]]]] * len(s))),
    "NaN in JSON": lambda h, s: say(b'{"id":"' + h["id"].encode() + b'","outcome":"outputs","sets":[[NaN],[NaN]]}\n'),
    "no object": lambda h, s: say(b"[1]\n"),
    "endless header": lambda h, s: flood(REPLIES),
    "endless log": lambda h, s: flood(2),
    "endless answer": lambda h, s: (say(edited(h, [], sets=[[1 << 31], [1 << 30]])), flood(REPLIES)),
    "giant frame": lambda h, s: (say(edited(h, [], sets=[[1 << 31], [1 << 30]])), time.sleep(600)),
    "hostile words": lambda h, s: say(refusal(h, "\x00\x1b]0;title\x07\u202e\r\n</script>%n%s`rm`$(rm)" + "\u0300" * 5000)),
    "giant header": lambda h, s: say(b'{"id":"' + b"x" * (2 << 20)),
    "wrong id": lambda h, s: say(edited(h, s, id="another")),
    "no id": lambda h, s: say(edited(h, s, id=None)),
    "no outcome": lambda h, s: say(edited(h, s, outcome=None)),
    "unknown outcome": lambda h, s: say(edited(h, s, outcome="\u202eperhaps")),
    "refuses without a reason": lambda h, s: say(edited(h, [], outcome="refused", sets=None)),
    "no sizes": lambda h, s: say(edited(h, s, sets=None)),
    "negative size": lambda h, s: say(edited(h, s, sets=[[-1]] * len(s))),
    "fractional size": lambda h, s: say(edited(h, s, sets=[[1.5]] * len(s))),
    "giant size": lambda h, s: say(edited(h, s, sets=[[1 << 40]] * len(s))),
    "sizes too large": lambda h, s: (say(edited(h, s, sets=[[len(p) + 9 for p in ps] for ps in s])), os._exit(0)),
    "sizes too small": lambda h, s: say(edited(h, s, sets=[[len(p) - 1 for p in ps] for ps in s])),
    "extra bytes": lambda h, s: say(honest(h, s) + b"more"),
    "answers twice": lambda h, s: say(honest(h, s) * 2),
    "one set too few": lambda h, s: say(honest(h, s[1:])),
    "one set too many": lambda h, s: say(honest(h, s + s[:1])),
    "no tensor": lambda h, s: say(honest(h, [[b"\xff" * 40]] * len(s))),
    "empty tensor": lambda h, s: say(honest(h, [[b""]] * len(s))),
    "no outputs": lambda h, s: say(honest(h, [[]] * len(s))),
    # dims 2^62 x 2^62 of float, no data
    "boundless tensor": lambda h, s: say(honest(h, [[(b"\x08" + b"\x80" * 8 + b"\x40") * 2 + b"\x10\x01"]] * len(s))),
    "writes into its folder": lambda h, s: (open(os.path.join(os.environ["TMPDIR"], "left"), "w").close(), say(honest(h, s))),
    "speaks up later": lambda h, s: (say(honest(h, s)), time.sleep(0.05), say(b'{"id":"next"}\n'), time.sleep(0.5)),
}


def describe(how):
    if how == "hangs":
        time.sleep(600)
    if how == "exits":
        sys.exit("cannot import anything\nModuleNotFoundError: no module named 'moon'")
    if how == "garbage":
        return b"moo\n"
    if how == "another protocol":
        return b'{"assay":2,"backend":"liar"}\n'
    if how == "misspelt arithmetic":
        return json.dumps({**DESCRIPTION, "arithmetic": {"acumulator": "f32"}}).encode() + b"\n"
    if how == "an option without values":
        return json.dumps({**DESCRIPTION, "options": {"precision": "f32"}}).encode() + b"\n"
    if how == "in full":
        declared = {"arithmetic": {"accumulator": "f64", "tf32": True},
                    "capabilities": {"operators": ["Conv-11"], "types": ["f32"], "newest_opset": 21}}
        return json.dumps({**DESCRIPTION, **declared}).encode() + b"\n"
    if how == "on stdout":
        return b"banner of a library\n{not json\n" + json.dumps({**DESCRIPTION, "replies": "stdout"}).encode() + b"\n"
    if how == "once" and os.path.exists(sys.argv[2]):
        sys.exit("not again")
    if how == "once":
        open(sys.argv[2], "w").close()
    return json.dumps(DESCRIPTION).encode() + b"\n"


HOW = sys.argv[1] if len(sys.argv) > 1 else ""
SCRIPT = json.load(open(sys.argv[2])) if HOW == "--script" else None
REPLIES = 1 if HOW == "on stdout" else int(os.environ["ASSAY_REPLY_FD"])

for line in iter(sys.stdin.buffer.readline, b""):
    header = json.loads(line)
    if header["ask"] == "describe":
        say(describe(HOW))
        continue
    model = sys.stdin.buffer.read(header["model"])
    model = model.decode() if SCRIPT is None else SCRIPT.get(header["id"], "not implemented")
    sets = [[sys.stdin.buffer.read(size) for size in sizes] for sizes in header["sets"]]
    ANSWERS.get(model, ANSWERS["honest"])(header, sets)
