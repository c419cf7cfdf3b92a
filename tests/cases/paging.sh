#!/bin/sh
# hexrig run --page-weights and --page-kv make the text that the same run makes without, say what they read, and refuse what cannot
# be.  No time is looked at.  Usage: paging.sh BUILD
set -eu
hexrig=$(cd "$1" && pwd)/bin/hexrig
unset HEXRIG_DEVICE HEXRIG_LIBEXEC
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

fail() {
    echo "paging: $*" >&2
    sed 's/^/      /' out err >&2
    exit 1
}
run() { # run STATUS ARGUMENT...
    want=$1
    shift
    got=0
    timeout 300 "$hexrig" run -p "In the beginning" -n 6 --kv f32 "$@" >out 2>err || got=$?
    [ "$got" = "$want" ] || fail "exit status $got, not $want: $*"
}
value() { sed -n "s/^$1=//p" out; }
same() { [ "$(value "$1")" = "$2" ] || fail "$1 is '$(value "$1")', not '$2'"; }
says() { grep -qF -- "$1" err || fail "does not say: $1"; }

run 0
tokens=$(value tokens)
[ -z "$(value paging.pages)" ] || fail "pages without --page-weights"

counted() { # counted [PREFIX]
    same tokens "$tokens"
    same "${1:-}paging.failed" 0
    [ $(($(value "${1:-}paging.hits") + $(value "${1:-}paging.late") + $(value "${1:-}paging.misses"))) = "$(value "${1:-}paging.fetches")" ] ||
        fail "hits, late and misses are not all fetches"
}
run 0 --page-weights
counted
same paging.storage file
same paging.matrices 43
n=$(value paging.pages)
run 0 --page-weights --page-kib 64 --threads 2
counted
[ "$(value paging.pages)" -gt "$n" ] || fail "no more pages of 64 KiB than of 512"
echo "ok the same text out of pages"

run 0 --page-weights --oracle-cpus none --storage disk
counted
same paging.storage disk
same paging.oracle_cpus none
same paging.misses "$(value paging.fetches)"
run 0 --page-weights --oracle-cpus shared --storage profile --profile s22u-sync
counted
same paging.storage profile
echo "ok without an oracle, from the disk, from the profile's storage"

first=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
run 0 --page-weights --oracle-cpus "$first" --model-cpus "$first"
counted
same paging.oracle_cpus "$first"
same model_cpus "$first"
run 0 --page-weights --oracle-cpus little --model-cpus mid,big
counted
same emulated.oracle_capacity 330
same emulated.model_capacity 862
[ -n "$(value emulated.tok_s)" ] || fail "no tokens per second of the emulated cores"
run 0 --model-cpus big
same tokens "$tokens"
same emulated.model_capacity 1024
echo "ok lists of CPUs, clusters"

run 0 -n 20 --kv spinor-cpu
tokens=$(value tokens)
run 0 -n 20 --kv spinor-cpu --page-kv --page-positions 4 --page-weights
counted
counted block.
[ "$(value block.paging.pages)" -ge 24 ] || fail "no pages of 4 positions"
run 0 -n 20 --kv spinor-cpu --page-kv --page-positions 4 --oracle-cpus none
counted block.
same block.paging.hits 0
echo "ok blocks of K and V out of pages"

run 2 --page-kv
says '--page-kv needs --kv spinor'
run 2 --kv spinor --density per-token --page-kv
says 'density per-token has the blocks of all layers in one call'
run 2 --kv spinor --offload attn --page-kv
says 'attention on the DSP has its blocks there'
run 2 --kv spinor-cpu --page-positions 4
says '--page-positions needs --page-kv'
run 2 --oracle-cpus none
says '--oracle-cpus needs --page-weights or --page-kv'
run 2 --storage disk
says '--storage needs --page-weights'
run 2 --page-weights --storage tape
says 'file, disk, profile'
run 2 --page-weights --linear ok
says 'linear method ok has the weights in a form of its own'
run 1 --page-weights --oracle-cpus 4096
says 'CPU 4096 is not among those'
run 1 --model-cpus huge
says "'huge' is no list of CPUs"
run 1 --page-weights --storage profile --profile ./none.conf
says 'none.conf'
echo "ok refusals"
