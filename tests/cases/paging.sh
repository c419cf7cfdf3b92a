#!/bin/sh
# hexrig run --page-weights makes the text that the same run makes without, says what it read, and refuses what cannot be.  No time is
# looked at.  Usage: paging.sh BUILD
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

counted() {
    same tokens "$tokens"
    same paging.failed 0
    [ $(($(value paging.hits) + $(value paging.late) + $(value paging.misses))) = "$(value paging.fetches)" ] ||
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

run 2 --oracle-cpus none
says '--oracle-cpus needs --page-weights'
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
