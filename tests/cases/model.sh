#!/bin/sh
# `hexrig model` as people use it: a model inspected and converted, what comes out run, wrong input refused, an interrupt
# that leaves nothing.  Usage: model.sh [BUILD]
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-build}" && pwd)
hexrig=$build/bin/hexrig
f16=$src/tests/data/hexrig-tiny-f16.gguf
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

die() {
    echo "model: $*" >&2
    exit 1
}
# exit code of a command whose output goes to `out` and `err`
code() {
    rc=0
    "$@" >out 2>err || rc=$?
}
says() { # a whole line of `out`
    grep -qxF "$1" out || die "no line '$1' in: $(head -c 300 out)"
}

# --- inspect
"$hexrig" model inspect "$f16" >out
says version=3
says all.tensors=68
says types.F16.tensors=43
says 'kv=qwen3.block_count type=u32 value=6'
says 'kv=qwen3.attention.layer_norm_rms_epsilon type=f32 value=1e-6'
says 'kv=tokenizer.ggml.add_bos_token type=bool value=false'
grep -q '^kv=tokenizer.ggml.merges type=string\[1789\] value="Ġ t",.*,\.\.\.$' out || die "merges are not shown"
grep -q '^tensor=' out && die "tensors are listed unasked"
"$hexrig" model inspect --tensors "$f16" >out
says 'tensor=blk.5.ffn_down.weight type=F16 shape=512x256 offset=7946112 bytes=262144'
[ "$(grep -c '^tensor=' out)" = 68 ] || die "not all tensors are listed"
"$hexrig" model inspect --json --tensors "$f16" >out
if command -v python3 >/dev/null; then
    python3 - <<'END' || die "the JSON is not as it should be"
import json
j = json.load(open("out"))
kv = {k["key"]: k for k in j["metadata"]}
assert kv["qwen3.rope.freq_base"] == {"key": "qwen3.rope.freq_base", "type": "f32", "value": 10000.0}
assert kv["tokenizer.ggml.token_type"]["count"] == 2048 and len(kv["tokenizer.ggml.token_type"]["first"]) == 8
assert len(j["tensors"]) == 68 and j["tensors"][0]["dims"] == [256, 2048] and j["all"]["weights"] == 4068096
END
fi

# --- convert, and what comes out
for type in f16 q4_0 q8_0 q4_k q6_k; do
    "$hexrig" model convert "$f16" $type.gguf --type $type >out 2>err
    says tensors=68
    says fell_back=0
    [ ! -s err ] || die "$type: $(cat err)"
    "$hexrig" run -m $type.gguf -p "The king was" -n 4 --kv f32 >out 2>err || die "$type does not run: $(cat err)"
done
"$hexrig" model inspect q4_k.gguf >out
says types.Q4_K.tensors=43
says types.F32.tensors=25
says 'kv=general.file_type type=u32 value=14'
says 'kv=general.quantization_version type=u32 value=2'
[ "$(ls)" = "$(printf '%s\n' err f16.gguf out q4_0.gguf q4_k.gguf q6_k.gguf q8_0.gguf)" ] || die "left behind: $(ls)"

# --- refused, with exit 1 for the input and 2 for the command line; what is there stays
code "$hexrig" model convert q8_0.gguf q4_k.gguf --type q4_k
[ $rc = 1 ] && grep -q "tensor 'token_embd.weight' is Q8_0; conversion starts from F32" err || die "$rc, $(cat err)"
"$hexrig" model inspect q4_k.gguf >out && says types.Q4_K.tensors=43
head -c 60000 "$f16" >cut.gguf
code "$hexrig" model inspect cut.gguf
[ $rc = 1 ] && grep -q 'cut.gguf: truncated: 68 tensors, 606 bytes left' err || die "$rc, $(cat err)"
code "$hexrig" model convert "$f16" new.gguf --type q5_0
[ $rc = 2 ] && grep -q "unknown value 'q5_0'; legal: f16, q4_0, q8_0, q4_k, q6_k" err || die "$rc, $(cat err)"
code "$hexrig" model convert "$f16" new.gguf
[ $rc = 2 ] || die "no --type: $rc"
code "$hexrig" model convert "$f16" --type f16
[ $rc = 2 ] || die "no OUT: $rc"
code "$hexrig" model inspect
[ $rc = 2 ] || die "no FILE: $rc"
code "$hexrig" model improve
[ $rc = 2 ] && grep -q "unknown action 'improve'; legal: inspect, convert" err || die "$rc, $(cat err)"

# --- a file that may not grow, and one that never says anything
(ulimit -f 1000 && code "$hexrig" model convert "$f16" new.gguf --type q8_0 && [ $rc = 1 ] && grep -q 'cannot write' err) ||
    die "a limit of file size: $(cat err)"
ls new.gguf* 2>/dev/null && die "half a file is left at the limit"
mkfifo pipe
code timeout 120 "$hexrig" model inspect pipe
[ $rc = 1 ] && grep -q 'not a regular file' err || die "a FIFO: $rc, $(cat err)"

# --- an interrupt at any time: the whole file or none; without --foreground timeout sends it twice, and the second ends the program
for delay in 0.01 0.02 0.05 0.1 0.2; do
    rm -f new.gguf
    rc=0
    timeout --foreground -s INT $delay "$hexrig" model convert "$f16" new.gguf --type q4_k --threads 1 >out 2>err || rc=$?
    ls new.gguf.*.part 2>/dev/null && die "half a file is left after $delay s"
    [ ! -e new.gguf ] || cmp new.gguf q4_k.gguf || die "another file after $delay s"
done
