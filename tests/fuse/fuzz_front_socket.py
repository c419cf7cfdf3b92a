"""Makes the corpus of fuzz_front_socket.c, operations by name:

    python3 tests/fuse/fuzz_front_socket.py tests/data/fuzz/front_socket
"""
import struct
import sys

OPS = ("turns connect create send invoke map ioctl text interrupt damage raw descriptors deaf close dsp").split()
ALL = 255
ANSWERS, SLEEPS, REPEATS, FORGES, DIES, BREAKS, REFUSES, END_PD, RESTART = range(9)
LIMITS = 8  # of turns: look at the limits, too
SEVERAL = 16  # of turns: the clients are several processes


def op(name, who=0, *args):
    return bytes([OPS.index(name), who]) + bytes(args)


def word(v):
    return struct.pack("<I", v)


def turns(n=7):
    return op("turns", 0, n)


def send(who, n=ALL, memory_alone=0):
    return op("send", who, n, memory_alone)


def up(who, attach=0):
    return op("connect", who, 0) + turns() + op("create", who, attach) + send(who) + turns() + turns(7 + LIMITS)


def invoke(who, seed, n_in, n_out, shared=0):
    return op("invoke", who, seed, shared) + word(n_in) + word(n_out)


def map_of(who, n_fds, which):
    return op("map", who, n_fds, which) + word(4096)


def dsp(*what):
    return op("dsp", 0, *what)


def call(who, seed, n_in, n_out):
    return invoke(who, seed, n_in, n_out) + send(who) + turns()


def join(parts):
    return b"".join(parts)


def large(*clients):
    return join(invoke(c, 7 + c, 2999, 5999) for c in clients) + join(send(c) for c in clients)


def pieces(n):
    return turns(3 + SEVERAL) * n


def amid_pieces(*ops):
    """Large calls of two processes, and what happens during them, sooner or later."""
    return join(up(0) + up(1) + up(2) + large(0, 1, 2) + pieces(n) + join(ops) + pieces(40) + op("close", 0) + turns() for n in (4, 5, 6, 8, 11, 14))


DAMAGE = ((0, 1), (4, 9), (8, 0), (20, 20000), (24, 700), (28, 5), (32, 0x20000000), (36, 1), (60, 0xFFFFFFFF), (64, 0xFFFFFFFF),
          (72, 3), (160, 0x0F000000))  # the last is the length of the out buffer
# bytes of the ioctls that op_ioctl() has; of what is larger it takes 64
SIZES = (16, 16, 0, 16, 32, 16, 64, 48, 28, 32, 64)
CORPUS = {
    "echo": up(0) + call(0, 1, 10, 10) + call(0, 2, 0, 100) + call(0, 3, 1000, 0) + call(0, 4, 2999, 5999) + call(0, 5, 5, 7),
    "echo-in-pieces": up(0) + invoke(0, 9, 300, 300)
    + join(send(0, k) + turns(1) for k in (1, 3, 39, 40, 100, 249, 249, ALL)) + turns(),
    "echo-many-at-once": up(0) + up(1) + join(invoke(i % 2, i, 100, 200) for i in range(8)) + send(0) + send(1) + turns() + turns(),
    "fifteen-sessions": join(op("connect", c, 0) for c in range(16)) + turns() + turns() + op("text", 15, 0) + send(15) + turns()
    + op("create", 15, 0) + send(15) + turns(),
    "crowd": (op("connect", 0, 250) + turns() * 9) * 2 + op("connect", 0, 250) + turns(7 + LIMITS) * 4 + op("create", 1, 0) + send(1)
    + turns() + call(1, 1, 9, 9),
    "maps": up(0) + join(map_of(0, 8, k) + send(0) + turns() for k in range(8)),
    "maps-40": up(0) + map_of(0, 40, 0) + send(0, ALL, 1) + turns(7 + LIMITS),
    "half-frames": join(up(c) + map_of(c, 60, 0) + send(c, 200, 1) + turns(1) for c in range(12)) + turns(7 + LIMITS),
    "half-head": up(0) + map_of(0, 8, 0) + send(0, 30) + turns() + up(1) + map_of(1, 8, 0) + send(1, 60) + turns()
    + op("close", 1) + turns(),
    "own-end": join(up(c) + map_of(c, 9, 0) + send(c, 60) + op("close", c) + turns() for c in range(4)),
    "text": op("connect", 0, 0) + turns() + join(op("text", 0, k) + send(0) + turns() for k in range(9)),
    "interrupt": up(0) + dsp(SLEEPS) + call(0, 3, 50, 50) + op("interrupt", 0, 0) + send(0) + turns(),
    "dsp-repeats": up(0) + dsp(REPEATS) + call(0, 3, 50, 50) + call(0, 4, 50, 50),
    "dsp-forges": up(0) + up(1) + dsp(FORGES) + invoke(0, 3, 50, 50) + invoke(1, 4, 5, 5) + send(0) + send(1) + turns() + turns(),
    "dsp-dies": up(0) + dsp(DIES) + call(0, 3, 50, 50) + dsp(ANSWERS) + call(0, 4, 50, 50),
    "dsp-breaks": up(0) + dsp(BREAKS) + call(0, 3, 50, 50) + dsp(ANSWERS) + call(0, 4, 50, 50),
    "pd-ends": up(0) + dsp(SLEEPS) + call(0, 3, 50, 50) + dsp(END_PD, 0) + turns() + op("close", 0) + turns() + up(0),
    "damage": join(up(c) + invoke(c, 3, 50, 50) + op("damage", c) + word(at) + word(v) + send(c) + turns()
                   for c, (at, v) in enumerate(DAMAGE)),
    "raw": op("connect", 0, 0) + turns() + op("raw", 0, 44, *([0x55] * 44)) + send(0) + turns(),
    "descriptors-anywhere": up(0) + invoke(0, 3, 50, 50) + send(0, 50) + op("descriptors", 0, 9) + send(0) + turns() + up(1)
    + op("descriptors", 1, 253) + op("text", 1, 0) + send(1) + turns(),
    "deaf": up(0) + op("deaf", 0) + join(invoke(0, k, 10, 5999) for k in range(8)) + send(0) + turns() + turns() + op("close", 0)
    + turns(),
    "ioctls": up(0)
    + join(op("ioctl", 0, k, 0, 0) + struct.pack("<QQQQQQQQ", *([3] * 8))[:SIZES[k]] + send(0) + turns() for k in range(11)),
    "shared-buffers": up(0) + join(invoke(0, n, 20, 20, n) + send(0, ALL, n % 2) + turns() for n in (1, 3, 8, 15)),
    "attached": up(0, 1) + call(0, 1, 9, 9) + up(1) + dsp(END_PD, 0) + turns() + call(0, 1, 9, 9) + call(1, 1, 9, 9) + op("close", 0)
    + up(0) + call(0, 1, 9, 9),
    "no-pd": dsp(REFUSES) + up(0) + dsp(ANSWERS) + op("create", 0, 0) + send(0) + turns() + call(0, 1, 9, 9),
    "restart": up(0) + up(1) + dsp(SLEEPS) + call(0, 1, 9, 9) + dsp(RESTART) + dsp(ANSWERS) + turns() + call(1, 1, 9, 9)
    + op("close", 0) + up(0) + call(0, 1, 9, 9),
    "pieces": up(0) + up(1) + up(2) + large(0, 1, 2, 0) + pieces(50) + large(2) + large(0) + pieces(30),
    "pieces-interrupt": amid_pieces(op("interrupt", 0, 0), send(0), op("interrupt", 2, 0), send(2)),
    "pieces-close": amid_pieces(op("close", 0), op("close", 2)),
    "pieces-restart": amid_pieces(dsp(RESTART)),
    "pieces-pd-ends": amid_pieces(dsp(END_PD, 0), dsp(END_PD, 2)),
    "pieces-repeats": dsp(REPEATS) + amid_pieces(),
    "pieces-breaks": amid_pieces(dsp(BREAKS)) + dsp(ANSWERS) + up(0) + large(0) + pieces(30),
    "pieces-deaf": up(0) + up(2) + op("deaf", 0) + large(0, 2) + pieces(40) + op("deaf", 0) + pieces(30),
    "pieces-alone-again": up(0) + up(1) + up(2) + large(0, 1, 2) + pieces(5) + turns() * 9,
    "mmap": up(0) + op("ioctl", 0, 4, 0, 32) + struct.pack("<iIQQQ", 0, 0x1000, 0, 8192, 0) + send(0) + turns()
    + op("ioctl", 0, 5, 0, 16) + struct.pack("<QQ", 0x10000000, 8192) + send(0) + turns(),
}

for name, ops in CORPUS.items():
    with open(f"{sys.argv[1]}/{name}", "wb") as f:
        f.write(ops)
