#!/bin/sh
# hexrig bench prefetch reads every byte once per pass, in each of its ways, and refuses what it cannot do.  No time is
# looked at.  Usage: bench_prefetch.sh BUILD
set -eu
hexrig=$(cd "$1" && pwd)/bin/hexrig
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

fail() {
    echo "bench_prefetch: $*" >&2
    sed 's/^/      /' out err >&2
    exit 1
}
run() { # run STATUS ARGUMENT...
    want=$1
    shift
    got=0
    timeout 300 "$hexrig" bench prefetch "$@" >out 2>err || got=$?
    [ "$got" = "$want" ] || fail "exit status $got, not $want: $*"
}
value() { sed -n "s/^$1=//p" out; }
same() { [ "$(value "$1")" = "$2" ] || fail "$1 is '$(value "$1")', not '$2'"; }

run 0 --passes 3 --tokens 2
n=$((3 * $(value items)))
for way in without kernel with; do same $way.gets $n; done
for way in without kernel; do
    same $way.misses $n
    same $way.bytes_read $((3 * $(value bytes_per_pass)))
done
same with.misses 0
same with.wrong 0
[ $(($(value with.hits) + $(value with.late))) = $n ] || fail "hits and late are not all gets"
echo "ok a model, three ways"

# 10 rows of 2048 bytes, three to an item, and a rest
head -c 20500 /dev/urandom >raw
run 0 --file raw --item-kib 6 --passes 2 --slots 3 --no-prefetch
same items 4
same bytes_per_pass 20480
same without.bytes_read 40960
grep -q '^with\.' out && fail "--no-prefetch prefetched"
echo "ok any file, in items of rows"

run 2 --slots 17
grep -q 'legal: integers from 1 to 16' err || fail "no range"
run 2 -m a --file b
run 2 surplus
run 1 --file "$dir"
run 1 -m raw
grep -q 'not a GGUF file' err || fail "no reason"
run 1 --reader-cpu 1023
grep -q 'CPU 1023 is not among those' err || fail "no CPU named"
echo "ok refusals"
