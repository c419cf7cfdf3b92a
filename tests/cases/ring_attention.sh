#!/bin/sh
# Ring attention as people use it: the same text from every way of making scores, what the figures say, combinations that
# cannot be are refused.  Usage: ring_attention.sh [BUILD]
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-build}" && pwd)
hexrig=$build/bin/hexrig
f16=$src/tests/data/hexrig-tiny-f16.gguf
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
head -c 3000 "$src/host/data/books-holdout.txt" >text

die() {
    echo "ring_attention: $*" >&2
    exit 1
}
says() { # a whole line of `out`
    grep -qxF "$1" out || die "no line '$1' in: $(head -c 600 out)"
}
ppl() {
    "$hexrig" ppl -m "$f16" -f text --ctx 64 --chunks 2 "$@" >out 2>err || die "ppl $*: $(cat err)"
    grep '^ppl=' out
}
refused() { # words of the message, then options
    rc=0
    words=$1
    shift
    "$hexrig" ppl -m "$f16" -f text "$@" >out 2>err || rc=$?
    [ $rc = 2 ] || die "$*: exit code $rc, not 2: $(cat err)"
    grep -qF -e "$words" err || die "$*: no '$words' in: $(cat err)"
}

# --- one and the same perplexity
want=$(ppl --kv ntt)
says poly.keys=persistent
says poly.product=crt
says poly.n=128
says poly.block_bytes=1024
[ "$(ppl --kv ntt --ntt)" = "$want" ] || die "--kv ntt --ntt differs"
says poly.product=60-bit
[ "$(ppl --kv f32 --poly-attn --ntt-crt --threads 1)" = "$want" ] || die "per step differs"
says 'poly.keys=per step'
[ "$(ppl --kv f32 --poly-attn)" = "$want" ] || die "schoolbook differs"
says poly.product=schoolbook
[ "$(ppl --kv f32 --attn poly --ntt)" = "$want" ] || die "--attn poly differs"
[ "$(ppl --kv ntt --offload kv)" = "$want" ] || die "keys on the DSP differ"
says poly.kernel=hvx
[ "$(ppl --kv ntt --poly-delta 10)" != "$want" ] || die "--poly-delta changes nothing"
says poly.delta_bits=10

# --- softmax
ppl --kv f32 --softmax int >/dev/null
says softmax.method=int
says softmax.rows=1536 # 2 windows of 64 tokens, 6 layers, 2 heads
ppl --kv f32 --softmax fp32 >/dev/null
grep -q '^softmax' out && die "--softmax fp32 has figures"

# --- text, and calls
for kv in "f32" "ntt" "ntt --offload kv --ring-vtcm 24 --ring-ddr 30" "ntt --offload kv"; do
    # shellcheck disable=SC2086
    "$hexrig" run -m "$f16" -p "The king was" -n 8 --kv $kv >out 2>err || die "run --kv $kv: $(cat err)"
    head -n 1 out >>texts
    case $kv in *ring*) # a position takes 6 KiB
        says poly.positions.vtcm=4
        says poly.positions.ddr=5
        grep -q '^poly.key_bytes_read.host=[1-9]' out || die "nothing was read on the host: $(cat out)" ;;
    esac
done
[ "$(sort -u texts | wc -l)" = 1 ] || die "texts differ: $(cat texts)"
says dispatch.calls_per_token=12

# --- what it takes
size() { # size BYTES OPTION...
    want=$1
    shift
    "$hexrig" kcache-size "$@" >out 2>err || die "kcache-size $*: $(cat err)"
    says "bytes=$want"
}
size 218103808 # 208 MiB, where the paper has 13 MB
size 218103808 --layers 26 --kv-heads 1 --positions 4096
size 301989888 --geometry qwen3-4b --positions 1024
size 6291456 -m "$f16" --positions 1024
size 12582912 -m "$f16" --positions 1024 --dh 200 # N is 256
for wrong in "--dh 513" "--layers 0" "--geometry zork" "--geometry qwen3-4b -m $f16"; do
    rc=0
    # shellcheck disable=SC2086
    "$hexrig" kcache-size $wrong >out 2>err || rc=$?
    [ $rc = 2 ] || die "kcache-size $wrong: $rc"
done

# --- what cannot be
refused "exclude each other" --kv f32 --poly-attn --ntt --ntt-crt
refused "--ntt needs --poly-attn or --kv ntt" --kv f32 --ntt
refused "from 10 to 24" --kv ntt --poly-delta 3
refused "exclude each other" --kv f32 --poly-attn --attn ref
refused "exclude each other" --softmax int --offload attn
refused "exclude each other" --softmax int --attn flash
refused "the cache ntt cannot do attention on the DSP; legal with --kv spinor, spinor-attn" --kv ntt --offload attn
refused "--ntt and --offload kv exclude each other" --kv ntt --ntt --offload kv
refused "--ring-vtcm is about keys on the DSP: it needs --offload kv" --kv ntt --ring-vtcm 64
refused "integers from 1 to" --kv ntt --offload kv --ring-ddr 0

# --- a damaged reply holds what is no residue
rc=0
"$hexrig" run -m "$f16" -p "The king was" -n 4 --kv ntt --offload kv --filter error:method=9,nth=5,corrupt=all >out 2>err || rc=$?
[ $rc = 1 ] && grep -q 'is no residue modulo q' err || die "a damaged reply: $rc $(cat err)"
