"""Makes the corpus of fuzz_gguf_fields.c, edits by name:

    python3 tests/host/model/fuzz_gguf_fields.py tests/data/fuzz/gguf_fields
"""
import struct
import sys

EDITS = ("value bits type elem count cut double string drop copy rename dim n_dims tensor_type offset drop_tensor rename_tensor "
         "swap weights version counts end").split()
ARCHS = "llama qwen2 qwen3 gemma2 gemma3 gpt2 opt gptj".split()
Q8_0, F16, F32 = range(3)
NAN = 0x7FC000007FC00000


def model(arch, matrices, *edits):
    return bytes([ARCHS.index(arch), matrices]) + b"".join(edits)


def edit(what, at=0, which=0, value=0):
    return struct.pack("<BBHQ", EDITS.index(what), which, at, value)


CORPUS = {f"whole-{arch}-{i}": model(arch, i) for arch in ARCHS for i in (Q8_0, F32)}
for i, what in enumerate(EDITS):
    arch = ARCHS[i % len(ARCHS)]
    CORPUS[f"one-{what}"] = model(arch, i % 3, edit(what, i, 0, 3 + i))
    CORPUS[f"odd-{what}"] = model(arch, i % 3, edit(what, i + 5, 1, (1 << 32) + 64))
for at in range(1, 9):
    CORPUS[f"geometry-{at}"] = model("llama", Q8_0, edit("bits", at, 0, 1 << at), edit("bits", at + 1, 0, 0))
CORPUS["nan"] = model("qwen3", F32, edit("weights", 0, 0, NAN), edit("weights", 9, 0, NAN))
CORPUS["tokens"] = model("qwen2", F16, *(edit("string", at, 3, 0xFF61C380) for at in range(18)))
# control characters of a file do not get into messages
for what, at in (("model", 15), ("pre", 16), ("merges", 18)):
    CORPUS[f"control-in-{what}"] = model("llama", Q8_0, edit("string", at, 8, 0x071B0A410D0A1B7F))
CORPUS["alignment"] = model("gpt2", F16, edit("copy", 1, 1, 0), edit("end", 0, 0, 4096))

for name, data in CORPUS.items():
    with open(f"{sys.argv[1]}/{name}", "wb") as f:
        f.write(data)
