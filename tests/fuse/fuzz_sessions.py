"""Makes those inputs of fuzz_sessions.c that copy large buffers in pieces:

    python3 tests/fuse/fuzz_sessions.py tests/data/fuzz/sessions
"""
import struct
import sys

OPEN, CREATE, INVOKE, OTHER, INTERRUPT, WRITE, CLOSE, SERVE, SERVE_ROOT, LIE, LIE_ROOT = 0, 1, 2, 7, 8, 9, 11, 12, 15, 17, 19
FORGE_LAST, DIE = 1, 10  # lies
FRONTS = {"fast": 0x41, "slow": 0x40}  # with clients of two processes
BETWEEN_OUT = ("nothing", "interrupt", "close", "pd-dies", "answer-again", "restart")  # fuzz_copied_out()
BETWEEN_IN = {
    "nothing": b"",
    "write": bytes([WRITE, 0]) + struct.pack("<H", 1900) + bytes([200, 7]),
    "interrupt": bytes([INTERRUPT, 0, 0]),
    "pd-dies": bytes([LIE, 0, DIE]),
    "close": bytes([CLOSE, 0]),
    "forged": bytes([LIE, 0, FORGE_LAST, 2, 3]),  # rounds() came in between, each with a context
    "restart": bytes([LIE_ROOT, 0, DIE]),
}


def up(front, *clients):
    return bytes([FRONTS[front]]) + b"".join(bytes([OPEN, c, 0]) for c in clients) + b"".join(
        bytes([CREATE, c, 0, SERVE_ROOT, 0, 0, 0]) for c in clients)


def invoke(client, *buffers):
    """Buffers (address, length) in the client's memory, the first half of them inputs."""
    n = len(buffers) // 2
    return bytes([INVOKE, client, n + 5 * n, 0]) + b"".join(b"\0" + struct.pack("<HH", *b) for b in buffers)


def large(client, at=0):
    return invoke(client, (at, 2000), (at + 2600, 2000))


def rounds(n):
    return bytes([OTHER, 0, 0]) * n


def quiet_rounds(n):
    """Without a context."""
    return bytes([OTHER, 0, 1]) * n


def serve(pd, how=0):
    return bytes([SERVE, pd, 0, how << 1])


CORPUS = {}
for front in FRONTS:
    two = up(front, 0, 2)
    for i, name in enumerate(BETWEEN_OUT):
        CORPUS[f"pieces-out-{name}-{front}"] = two + large(0) + large(2) + rounds(16) + serve(0, i << 2 | 2) + rounds(2) + serve(1) + rounds(3)
    for name, ops in BETWEEN_IN.items():
        CORPUS[f"pieces-in-{name}-{front}"] = two + large(0) + large(2) + rounds(2) + ops + rounds(16) + serve(0) + serve(1) + rounds(3)
    CORPUS[f"pieces-in-fault-{front}"] = two + invoke(0, (7000, 2000), (1408, 2000)) + rounds(10) + serve(0)
    CORPUS[f"pieces-in-fault-forged-{front}"] = two + invoke(0, (7000, 2000), (1408, 2000)) + large(2) + quiet_rounds(3) + bytes(
        [LIE_ROOT, 0, FORGE_LAST, 0, 3])
    CORPUS[f"pieces-out-fault-{front}"] = two + invoke(0, (3900, 300), (6500, 2000)) + rounds(4) + serve(0)
    CORPUS[f"pieces-many-{front}"] = up(front, 0, 1, 2) + large(0) + large(0, 100) + large(1) + large(2) + rounds(32) + serve(0) + serve(
        1) + serve(2) + serve(0) + rounds(2)
    CORPUS[f"pieces-buffers-{front}"] = two + invoke(0, (0, 1000), (1500, 900), (3000, 1000), (4500, 700)) + large(2) + rounds(20) + serve(
        0) + rounds(2)

for name, ops in CORPUS.items():
    with open(f"{sys.argv[1]}/{name}", "wb") as f:
        f.write(ops)
