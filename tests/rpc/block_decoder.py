#!/usr/bin/env python3
"""A decoder of spinor blocks, written from docs/block.md alone, with the standard library alone.

usage: block_decoder.py GOLDEN              decodes every line of a file of golden vectors and compares the values
       block_decoder.py CAL SLOT BLOCKS     decodes a .blk file of slots with a .cal file; one line of values per block

Exit 1 when something differs or is corrupt."""
import math
import struct
import sys
import zlib

SIZES = {  # dh: padded, residual lanes, payload, slot, offsets of magnitudes, phases, amax
    64: (66, 25, 46, 64, 28, 38, 42),
    128: (154, 60, 63, 64, 28, 51, 59),
    256: (330, 127, 96, 128, 28, 76, 92),
    512: (770, 300, 183, 192, 28, 141, 179),
}
BASES = ["vht2", "vht2w", "klt"]
CODES = ["sign", "sheet"]


class Corrupt(Exception):
    pass


def crc8(data):
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ 0x07) & 0xFF if crc & 0x80 else crc << 1
    return crc


def squarefree(i):
    return all((i + 1) % (d * d) for d in range(2, math.isqrt(i + 1) + 1))


def vht2(x):
    stride = 1
    for p in (2, 3, 5, 7, 11):
        if len(x) % p:
            continue
        cas = [(math.cos(2 * math.pi * k / p) + math.sin(2 * math.pi * k / p)) / math.sqrt(p) for k in range(p)]
        for block in range(0, len(x), stride * p):
            for o in range(block, block + stride):
                group = [x[o + j * stride] for j in range(p)]
                for k in range(p):
                    x[o + k * stride] = sum(cas[k * j % p] * group[j] for j in range(p))
        stride *= p
    return x


def to_f32(v):
    return struct.unpack("<f", struct.pack("<f", v))[0]


def to_f16(v):
    return struct.unpack("<e", struct.pack("<e", v))[0]


class Table:
    """What a decode needs of a slot's table: skeleton and W, or mean, scale and rows."""

    def __init__(self, dh, basis):
        self.dh, self.basis = dh, basis
        self.n, self.lanes = SIZES[dh][:2]

    def count(self):
        """16-bit numbers of a table."""
        if self.basis == "klt":
            return self.dh + self.lanes + (14 + self.lanes) * self.dh
        return 16 + 14 * (self.lanes if self.basis == "vht2" else self.n - 14)

    def read(self, raw):
        if self.basis == "klt":
            v = struct.unpack("<%de" % self.count(), raw)
            self.mean, self.scale = v[:self.dh], v[self.dh:self.dh + self.lanes]
            v = v[self.dh + self.lanes:]
            self.rows = [v[r * self.dh:(r + 1) * self.dh] for r in range(14 + self.lanes)]
        else:
            self.skeleton = struct.unpack("<14H", raw[:28])
            v = struct.unpack("<%de" % (self.count() - 16), raw[32:])
            self.w = [v[r * 14:(r + 1) * 14] for r in range(len(v) // 14)]
        return self

    def golden(self):
        if self.basis == "klt":
            one = to_f16(1 / math.sqrt(self.dh))
            self.mean = [((5 * i % 16) - 8) / 64 for i in range(self.dh)]
            self.scale = [(16 + i % 7) / 32 for i in range(self.lanes)]
            self.rows = [[-one if bin(i & j).count("1") % 2 else one for i in range(self.dh)]
                         for j in range(14 + self.lanes)]
        else:
            self.skeleton = [i for i in range(self.n) if squarefree(i)][0:28:2]
            rows = (self.count() - 16) // 14
            self.w = [[((3 * r + 5 * j) % 17 - 8) / 64 for j in range(14)] for r in range(rows)]
        return self

    def predictions(self, skeleton):
        if self.basis == "klt":
            return [0.0] * self.lanes
        return [sum(w * s for w, s in zip(row, skeleton)) for row in self.w]

    def vector(self, skeleton, lanes, predictions):
        if self.basis == "klt":
            z = list(skeleton) + [v * s for v, s in zip(lanes, self.scale)]
            return [self.mean[i] + sum(a * row[i] for a, row in zip(z, self.rows)) for i in range(self.dh)]
        c = [0.0] * self.n
        for j, i in enumerate(self.skeleton):
            c[i] = skeleton[j]
        for i, v in zip((i for i in range(self.n) if not squarefree(i)), lanes):
            c[i] = v
        if self.basis == "vht2w":
            others = [i for i in range(self.n) if squarefree(i) and i not in self.skeleton]
            for i, v in zip(others, predictions[self.lanes:]):
                c[i] = v
        return vht2(c)[:self.dh]


def bits(plane, first, n):
    return sum((plane[b // 8] >> b % 8 & 1) << b - first for b in range(first, first + n))


def decode(table, code, slot):
    _, n_lanes, payload, size, mag, phase, amax_at = SIZES[table.dh]
    skeleton = struct.unpack("<14e", slot[:28])
    amax, = struct.unpack("<f", slot[amax_at:amax_at + 4])
    if crc8(slot[:size - 1]) != slot[size - 1]:
        raise Corrupt("CRC")
    if any(slot[payload:size - 1]) or not all(map(math.isfinite, skeleton)):
        raise Corrupt("fill or skeleton")
    if not math.isfinite(amax) or slot[amax_at + 3] & 0x80:
        raise Corrupt("amax")
    predictions = table.predictions(skeleton)
    lanes = []
    for i in range(n_lanes):
        m, f, p = bits(slot[mag:phase], 3 * i, 3), bits(slot[phase:amax_at], i, 1), predictions[i]
        if code == "sign":
            level = to_f32(m * amax / 7)
            lanes.append(p - level if f else p + level)
        else:
            level = to_f32((2 * m - 7) * amax / 7)
            lanes.append((-p if f else p) + level)
    return table.vector(skeleton, lanes, predictions)


def check_golden(path):
    checked = bad = 0
    for number, line in enumerate(open(path), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        dh, basis, code = int(words[0]), words[1], words[2]
        x = decode(Table(dh, basis).golden(), code, bytes.fromhex(words[4]))
        want = [float(w) for w in words[5:]]
        got = [x[i * dh // 16] for i in range(16)]
        checked += 1
        if len(want) != 16 or any(abs(g - w) > 1e-5 * max(1, max(map(abs, x))) for g, w in zip(got, want)):
            bad += 1
            print("%s:%d: %s" % (path, number, " ".join(words[:4])), got, want, sep="\n  ", file=sys.stderr)
    print("checked=%d\nbad=%d" % (checked, bad))
    return 1 if bad or not checked else 0


def decode_file(cal_path, slot, blocks_path):
    cal, blocks = open(cal_path, "rb").read(), open(blocks_path, "rb").read()
    magic, version, dh, basis, flags, _, n_slots, table_bytes = struct.unpack("<8sIIIIQII", cal[:40])
    if magic != b"HXCAL\0\0\0" or version != 2 or zlib.crc32(cal[:-4]) != struct.unpack("<I", cal[-4:])[0]:
        sys.exit("block_decoder: %s is no intact calibration file of version 2" % cal_path)
    if slot >= n_slots:
        sys.exit("block_decoder: %s has %d slots" % (cal_path, n_slots))
    table = Table(dh, BASES[basis])
    if table_bytes != 2 * table.count():
        sys.exit("block_decoder: tables of %d bytes" % table_bytes)
    table.read(cal[40 + slot * table_bytes:40 + (slot + 1) * table_bytes])
    size, rc = SIZES[dh][3], 0
    for at in range(0, len(blocks), size):
        try:
            x = decode(table, CODES[flags >> 1 & 1], blocks[at:at + size])
            print(" ".join("%.9g" % v for v in x))
        except Corrupt as e:
            print("offset %d: %s is bad" % (at, e), file=sys.stderr)
            rc = 1
    return rc


if __name__ == "__main__":
    if len(sys.argv) == 2:
        sys.exit(check_golden(sys.argv[1]))
    if len(sys.argv) == 4:
        sys.exit(decode_file(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
    sys.exit(__doc__)
