#!/usr/bin/env python3
"""Writes the corpus of fuzz_listener: tests/rpc/fuzz_listener.py tests/data/fuzz/listener"""
import os
import struct
import sys

REMOTECTL, APPS_STD, APPS_MEM, MESSAGES = 0, 1, 2, 3
HONEST, HUGE_REQUEST, HANDLES, NO_REST = range(4)
FILE = 100  # the first that is opened


def pack(ins, outs):
    """What hx_reverse_pack() makes."""
    block = b""
    for data in ins:
        block += struct.pack("<I", len(data))
        if data:
            block += bytes(-len(block) % 8) + data
    return block + b"".join(struct.pack("<I", n) for n in outs)


def raw(handle, method, n_in, n_out, block, lie=HONEST):
    return struct.pack("<BBBBBH", handle, method, n_in, n_out, lie, len(block)) + block


def call(handle, method, ins, outs, lie=HONEST):
    return raw(handle, method, len(ins), len(outs), pack(ins, outs), lie)


def words(*values):
    return struct.pack("<%di" % len(values), *values)


def text(value):
    return value.encode("latin-1") + b"\0"


def named(method, *names, front=b"", outs=(), back=()):
    """A method whose first argument has the lengths of its strings."""
    strings = [text(n) for n in names]
    head = front + words(*[len(s) for s in strings]) + words(*back)
    return call(APPS_STD, min(method, 31), [head] + strings, list(outs))


def late(method, *names, outs=(), back=()):
    """Methods from 31 on have their number in front."""
    return named(31, *names, front=words(method), outs=outs, back=back)


def fopen(name, mode):
    return named(0, name, mode, outs=[4])


def of_file(method, *more, outs=()):
    return call(APPS_STD, method, [words(FILE, *more)], list(outs))


def fwrite(data):
    return call(APPS_STD, 5, [words(FILE, len(data)), data], [8])


def message(what, name):
    return call(MESSAGES, 0, [words(256), struct.pack("<IHH218s30s", 2, 77, 1, what, name)], [])


def map64(rflags, length):
    return call(APPS_MEM, 2, [struct.pack("<iIIIQq", 25, 0, rflags, 0, 0, length)], [16])


SEEDS = {
    "read": fopen("a", "r") + of_file(4, 64, outs=[8, 64]) + of_file(4, 64, outs=[8, 64]) + of_file(8, outs=[4]) +
            of_file(10, outs=[8]) + of_file(12, outs=[4]) + of_file(13, outs=[4]) + of_file(14) + of_file(3) + of_file(3),
    "write": fopen("n", "w+") + fwrite(b"written") + of_file(9, 2, 0) + of_file(20, 16, outs=[4, 16]) + of_file(2) + of_file(23) +
             of_file(11) + of_file(6, 8, outs=[4, 8]) + call(APPS_STD, 7, [words(FILE, 8), bytes(8)], []) + of_file(3),
    "modes": fopen("a", "a") + fopen("a", "r+") + fopen("x", "wx") + fopen("x", "wx") + fopen("a", "q") + fopen("d", "r") +
             named(1, "a", "w", front=words(FILE), outs=[4]) + of_file(25, outs=[4]),
    "outside": fopen("l", "r") + fopen("../x", "r") + fopen("/etc/passwd", "r") + fopen("d/../../x", "w") + fopen("", "r") +
               late(31, "l", outs=[96]) + named(24, "l") + fopen("l", "w"),
    "names": late(31, "a", outs=[96]) + named(22, "a", outs=[1]) + named(29, "e", back=[0o700]) + named(30, "e") + named(24, "a") +
             late(33, "d", "e") + named(24, "e") + named(26, "d", outs=[8]),
    "folders": named(26, ".", outs=[8]) + call(APPS_STD, 28, [struct.pack("<Q", 1)], [264]) * 4 +
               call(APPS_STD, 27, [struct.pack("<Q", 1)], []) * 2,
    "environment": named(16, "ADSP_LIBRARY_PATH", back=[64], outs=[4, 64]) + named(16, "HOME", back=[64], outs=[4, 64]) +
                   named(17, "A", "B", back=[1]) + named(18, "A") + named(19, "ADSP_LIBRARY_PATH", ";", "a", "r", outs=[4]),
    "memory": map64(0x1000, 65536) + map64(0x10000, 4096) + map64(0, -1) + map64(0, 1 << 40) +
              call(APPS_MEM, 3, [struct.pack("<Qq", 0, 1)], []) + late(34, "a", "r", outs=[8]) +
              call(APPS_MEM, 4, [words(3, 4096)], [16]),
    "messages": message(b"plain", b"skel.c") + message(b"\x1b[31m\x9b31m\n\n", b"\xff" * 30) + named(15, "\x1b]0;title\x07"),
    "interfaces": call(REMOTECTL, 0, [words(9, 256), text("apps_std")], [8, 256]) +
                  call(REMOTECTL, 0, [words(6, 256), text("other")], [8, 256]) +
                  call(REMOTECTL, 0, [words(6, 256), b"no end"], [8, 0]) + call(REMOTECTL, 1, [words(1, 256)], [4, 256]) +
                  call(77, 0, [], []) + call(255, 0, [b"x"], [1]),
    "lies": raw(APPS_STD, 0, 255, 255, b"") + raw(APPS_STD, 0, 3, 1, b"\xff" * 40) + raw(APPS_STD, 0, 0, 2, b"\xff" * 8) +
            call(APPS_STD, 0, [words(2, 2), b"a\0", b"r\0"], [4], HUGE_REQUEST) +
            call(APPS_STD, 0, [words(2, 2), b"a\0", b"r\0"], [4], HANDLES) +
            call(APPS_STD, 0, [words(2, 2), b"a\0", b"r\0"], [4], NO_REST) +
            call(APPS_STD, 0, [words(1000, 1000), b"a", b"r"], [4]) + of_file(4, 1 << 20, outs=[8, 1 << 20]),
    "long": fopen("a" * 5000, "r") + fopen("n", "w") + fwrite(b"x" * 6000) + fopen("a", "r"),
}

os.makedirs(sys.argv[1], exist_ok=True)
for name, data in SEEDS.items():
    with open(os.path.join(sys.argv[1], name), "wb") as out:
        out.write(data)
