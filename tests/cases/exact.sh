#!/bin/sh
# hexrig perplexity-sp: the published flags, the SP_* environment, which wins; hexrig bench exact: all its ways give the same bits.  No
# time is looked at.  Usage: exact.sh BUILD
set -eu
build=$(cd "$1" && pwd)
hexrig=$build/bin/hexrig
text=$build/share/hexrig/books-holdout.txt
unset SP_ENGINE_NATIVE SP_ENGINE_POLY_ATTN SP_ENGINE_POLY_NTT SP_ENGINE_POLY_NTT_CRT SP_FREETHEDSP
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

fail() {
    echo "exact: $*" >&2
    sed 's/^/      /' out err >&2
    exit 1
}
run() { # run STATUS [VARIABLE=VALUE...] COMMAND...: hexrig
    want=$1 got=0
    shift
    set_here=
    while case $1 in SP_*=*) true ;; *) false ;; esac; do
        set_here="$set_here $1"
        shift
    done
    timeout 600 env $set_here "$hexrig" "$@" >out 2>err || got=$?
    [ "$got" = "$want" ] || fail "exit status $got, not $want:$set_here $*"
}
value() { sed -n "s/^$1=//p" out; }
same() { [ "$(value "$1")" = "$2" ] || fail "$1 is '$(value "$1")', not '$2'"; }
says() { grep -q "$1" err || fail "no '$1'"; }

exact="--frobenius-quant -p 41 -k 8 --poly-attn --ntt-crt"
run 0 perplexity-sp $exact --ctx 32 --chunks 2 --threads 16
ppl=$(value ppl)
same kv f32
same poly.product crt
same ok.mode B
same ok.remainders 0
run 0 ppl -f "$text" --kv f32 $exact --ctx 32 --chunks 2
same ppl "$ppl"
run 0 perplexity-sp -f "$text" $exact --ctx 32 --chunks 2 --crt-shard
same ppl "$ppl"
same shard.transport fork
echo "ok the published command line"

sp="perplexity-sp --ctx 16 --chunks 1"
run 0 $sp
same ok.mode ""
same poly.product ""
f32=$(value ppl)
run 0 SP_ENGINE_NATIVE=0 SP_FREETHEDSP=1 $sp
same ppl "$f32"
same poly.product ""
run 0 SP_ENGINE_POLY_ATTN=1 $sp
same poly.product schoolbook
run 0 SP_ENGINE_POLY_ATTN=1 SP_ENGINE_POLY_NTT=0 $sp
same poly.product schoolbook
run 0 SP_ENGINE_POLY_ATTN=1 SP_ENGINE_POLY_NTT=1 $sp
same poly.product 60-bit
run 0 SP_ENGINE_POLY_ATTN=1 SP_ENGINE_POLY_NTT=1 SP_ENGINE_POLY_NTT_CRT=1 $sp
same poly.product crt
run 2 SP_ENGINE_POLY_NTT=1 $sp # of attention that nobody asked for
says "SP_ENGINE_POLY_NTT=1 needs SP_ENGINE_POLY_ATTN=1, --poly-attn or --kv ntt"
run 0 SP_ENGINE_NATIVE=1 $sp
same ok.mode native
same poly.product crt
same softmax.method int
echo "ok the environment"

run 0 SP_ENGINE_POLY_ATTN=1 SP_ENGINE_POLY_NTT=1 $sp --poly-attn --ntt-crt
same poly.product crt
run 0 SP_ENGINE_POLY_ATTN=0 $sp --poly-attn --ntt
same poly.product 60-bit
run 0 SP_ENGINE_NATIVE=1 SP_ENGINE_POLY_ATTN=0 $sp --linear ref --softmax fp32
same ppl "$f32"
same softmax.method ""
run 0 SP_ENGINE_NATIVE=1 $sp --frobenius-quant --shim-config E --attn ref
same ok.mode E
same poly.product ""
same softmax.method int
run 0 $sp --linear ref,ffn=ok --frobenius-quant # the flag sets how a map's exact part is computed
same linear ref,ffn=ok
same ok.mode B
echo "ok flags win"

for flags in "--linear dsp" "--offload linear" "--kv spinor --offload kv"; do # none is about attention
    run 0 $sp $flags
    same attn ref
done
for flags in "--kv spinor --offload attn" "--kv spinor-attn"; do
    run 0 $sp $flags
    same attn dsp
done
echo "ok attention in fp32 unless a flag is about it"

run 2 SP_ENGINE_NATIVE=2 $sp
says "SP_ENGINE_NATIVE: unknown value '2'; legal: 0, 1"
run 2 SP_ENGINE_POLY_NTT=yes $sp
says "SP_ENGINE_POLY_NTT: unknown value 'yes'"
run 2 SP_ENGINE_POLY_NTT=0 SP_ENGINE_POLY_NTT_CRT=1 $sp
says "exclude each other"
run 2 SP_FREETHEDSP=0 $sp --kv spinor
says "SP_FREETHEDSP=0 asks for a signed PD"
run 2 $sp --no-such-flag
run 0 SP_ENGINE_NATIVE=2 ppl -f "$text" --kv f32 --linear ref --attn ref --ctx 16 --chunks 1 # not its variables
same ppl "$f32"
echo "ok refusals"

run 0 bench exact --ctx 5 --runs 1 --batch 2 --no-dsp
same same_bits 1
for rung in schoolbook ntt60_percent barrett q_hoist vector_kernel persistent_k crt; do
    [ -n "$(value ladder.$rung.wall_s)" ] && [ -n "$(value ladder.$rung.ratio_before)" ] || fail "no $rung"
done
for way in fp32 int8 ok_native ok_B ok_E; do
    [ -n "$(value linear.$way.token_us)" ] || fail "no $way"
done
for loop in chain pointwise transform; do
    [ -n "$(value barrett.$loop.speedup)" ] && [ -n "$(value barrett.$loop.speedup_low)" ] || fail "no products by Barrett: $loop"
done
same ladder.crt.dsp_model_us ""
same dsp_ladder.per_key.exec_us ""
run 0 bench exact --ctx 3 --runs 1 --batch 1 --json
grep -q '"dsp_model_us": [1-9]' out || fail "nothing modelled"
dsp() { # dsp RUNG KEYS QUERIES: transforms of 3 positions in 6 layers with 1 and 2 heads
    grep -q "\"$1\": {\"exec_us\": [1-9][0-9.]*, [^}]*\"key_transforms\": $2, \"query_transforms\": $3}" out || fail "the DSP's $1"
}
dsp per_key 18 36
dsp q_hoist 18 12
dsp persistent_k 6 12
dsp two_contexts 6 12
grep -q '"dsp_gate": {"monotone": [01], "base": "per_key"' out || fail "no gate of the DSP's ladder"
grep -q '"pointwise": {"percent_ns": [0-9.]*, "barrett_ns": [0-9.]*, "speedup": ' out || fail "no products in JSON"
run 2 bench exact --ctx 0
run 1 bench exact -m "$dir/none"
says "$dir/none"
echo "ok the ladder"
