#!/bin/sh
# hexrig bench engine measures both phases and says what it measured with, and refuses what it cannot do.  No time is looked at.
# Usage: bench_engine.sh BUILD
set -eu
hexrig=$(cd "$1" && pwd)/bin/hexrig
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

fail() {
    echo "bench_engine: $*" >&2
    sed 's/^/      /' out err >&2
    exit 1
}
run() { # run STATUS ARGUMENT...
    want=$1
    shift
    got=0
    timeout 600 "$hexrig" bench engine "$@" >out 2>err || got=$?
    [ "$got" = "$want" ] || fail "exit status $got, not $want: $*"
}
value() { sed -n "s/^$1=//p" out; }
same() { [ "$(value "$1")" = "$2" ] || fail "$1 is '$(value "$1")', not '$2'"; }
more() { awk "BEGIN { exit !($(value "$1") > $2) }" || fail "$1 is '$(value "$1")', not above $2"; }

for threads in 1 3; do
    run 0 --threads $threads --prefill 20 --decode 5 --runs 2
    same threads $threads
    same linear cpu
    same attn flash
    same runs 2
    same prefill.tokens 20
    same decode.tokens 5
    for phase in prefill decode; do
        more $phase.tok_per_s 0
        more $phase.median_tok_per_s 0
    done
    more peak_rss_bytes 1000000
    [ -n "$(value isa)" ] || fail "no instruction set"
    [ -n "$(value power_sensor)" ] || fail "nothing on a power sensor"
done
run 0 --linear ref --attn ref --prefill 4 --decode 1 --runs 1 --json
grep -q '^{.*"linear": "ref".*}$' out || fail "no JSON"
echo "ok two phases"

run 2 --linear none
grep -q "^hexrig bench engine: --linear: unknown value 'none'; legal: cpu, ref, ok, dsp, lowrank, native, gsi;" err || fail "no legal values"
run 2 --runs 0
run 2 surplus
run 1 -m missing.gguf
grep -q 'missing.gguf' err || fail "no file named"
echo "ok refusals"
