#!/bin/sh
# `hexrig dsp call` as people use it: transforms of every pad are their own inverse and the host's, both Moebius orders say how many come
# first, compression takes head dimensions that have a pad, and what has none is refused by name.  Usage: dsp_call.sh [BUILD]
set -eu
build=$(cd "${1:-build}" && pwd)
hexrig=$build/bin/hexrig
unset HEXRIG_DEVICE HEXRIG_FARF
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_RUNTIME_DIR="$dir"
cd "$dir"

die() {
    echo "dsp_call: $*" >&2
    exit 1
}
call() { # call WORDS...: its lines go to `out`
    "$hexrig" dsp call --front-end socket "$@" >out 2>err || die "$*: exit code $?: $(cat err)"
}
below() { # below KEY LIMIT
    awk -F= -v key="$1" -v limit="$2" '$1 == key { found = 1; bad = !($2 >= 0 && $2 < limit) } END { exit bad || !found }' out ||
        die "$1 is not below $2: $(cat out)"
}

for n in 66 105 154 330 770; do
    call vht2 --n $n --vectors 3
    below twice_error 1e-4
    below host_error 1e-5
    grep -q '^hvx_ops=[1-9]' out || die "vht2 --n $n: no HVX: $(cat out)"
    grep -q '^model_us.exec=[1-9]' out || die "vht2 --n $n costs nothing: $(cat out)"
done
call mobius --n 154
grep -qx sqf=93 out && grep -qx nonsqf=61 out && grep -qx bijective=1 out && grep -qx as_on_host=1 out || die "mobius: $(cat out)"
call mobius --n 154 --order block
grep -qx sqf=94 out && grep -qx nonsqf=60 out && grep -qx bijective=1 out && grep -qx as_on_host=1 out || die "mobius: $(cat out)"
for pair in "64 42" "80 66" "96 66" "128 76" "256 144" "512 280"; do
    call compress --dh ${pair% *}
    grep -qx "bytes=${pair#* }" out || die "compress --dh $pair: $(cat out)"
    below decode_error 1e-4
done
call compress --v --json
grep -q '"bytes": 50' out || die "compress --v --json: $(cat out)"

for words in "" "nope" "vht2 --n 100" "vht2 --n 1155" "mobius --n 1025" "mobius --order knight" "compress --dh 900" "compress --dh 7" "vht2 mobius"; do
    rc=0
    "$hexrig" dsp call $words >out 2>err || rc=$?
    [ $rc = 2 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -q 'legal\|no STEP\|one STEP' err || die "'$words': $rc, $(cat out err)"
done
echo "dsp_call: transforms, orders and compression as on the host; refusals by name"
