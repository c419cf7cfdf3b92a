#!/bin/sh
# Votes, heat and messages through a rig: a skel that votes for a clock gets it, a sustained load throttles, the nodes say so, and
# two runs print the same figures.  Usage: power.sh BUILD
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
command -v pkg-config >/dev/null || { echo "skip: no pkg-config"; exit 77; }
export PKG_CONFIG_PATH="$build/lib/pkgconfig" LD_LIBRARY_PATH="$build/lib"
unset HEXRIG_DEVICE HEXRIG_FARF DSP_LIBRARY_PATH ADSP_LIBRARY_PATH
dir=$(mktemp -d)
hexrig=$build/bin/hexrig
trap '"$hexrig" down --mount "$dir/rig" >/dev/null 2>&1 || :; rm -rf "$dir"' EXIT
export XDG_RUNTIME_DIR="$dir"
cd "$dir"

fail() {
    echo "power: $*" >&2
    exit 1
}

gcc -O2 -march=native -DHEXRIG_COUNT -Wall -Wextra $(pkg-config --cflags hexrig-skel) "$src/tests/skel/power_skel.c" \
    $(pkg-config --libs hexrig-skel) -o libpower_skel.so
gcc -O2 -Wall -Wextra $(pkg-config --cflags hexrig-rpc) "$src/tests/skel/power_client.c" -L"$build/lib" -lcdsprpc -o client

field() { # field KEY <file: the value of its first KEY=
    sed -n "s/.*\b$1=\([^ ]*\).*/\1/p" | head -n 1
}

up() { # up OPTION...
    DSP_LIBRARY_PATH=$dir "$hexrig" up --mount "$dir/rig" "$@" >/dev/null
    export HEXRIG_DEVICE="$dir/rig/fastrpc-cdsp"
}

down() {
    "$hexrig" down --mount "$dir/rig"
    unset HEXRIG_DEVICE
}

# --- votes
for front in auto socket; do
    up --front-end $front --profile s22u-sync
    ./client work=100000 vote=1 work=100000 cat=clock vote=6 work=100000 hvx=0 work=10 hvx=1 work=10 vtcm=300000 cat=vtcm >out
    set -- $(sed -n 's/^work=100000 rc=0 out=1 .*exec_ns=//p' out)
    [ $# = 3 ] || fail "$(cat out)"
    [ "$1" = "$3" ] && [ "$2" -gt $((2 * $1)) ] || fail "exec $* at TURBO, SVS2, TURBO"
    grep -q '^clock_mhz=360.0$' out && grep -q '^session=1 .*corner=SVS2 mhz=0 latency_us=0 awake=0$' out ||
        fail "clock: $(cat out)"
    grep -q '^work=10 rc=0 out=-1 ' out && grep -q '^work=10 rc=0 out=1 ' out || fail "HVX without power: $(cat out)"
    grep -q '^free_bytes=7340032$' out && grep -q '^session=1 offset=0x0 held_bytes=1048576 asked_bytes=300000 context=0$' out ||
        fail "vtcm: $(cat out)"
    "$hexrig" status --mount "$dir/rig" | grep -q '^time=virtual$' || fail "status"
    # the PD is gone, and so are its votes and its VTCM
    ./client vote=1 vtcm=5000 die work=1 cat=clock >out
    grep -q '^die=0 rc=0x80000430 ' out && grep -q '^clock_mhz=1200.0$' out && ! grep -q corner= out || fail "death: $(cat out)"
    ./client cat=vtcm | grep -q '^free_bytes=8388608$' || fail "the dead PD's VTCM"
    down
done

# --- sleep: a short call lets the DSP sleep, unless somebody tolerates no wake-up
up --profile s22u-sync
./client vote=0 vote=0 latency=40 vote=0 >out
[ "$(sed -n 's/^vote=0 .*dispatch_ns=\([0-9]*\).*/\1/p' out | tr '\n' ' ')" = "294989 294989 185000 " ] || fail "sleep: $(cat out)"
down

# --- heat, on a small body so that it is quick
cat >hot.conf <<END
include = v69.inc
dispatch_us = 100
dsp_wake_us = 0
host_cold_us = 0
host_sleep_us = 0
tau_s = 0.01
throttle_ms = 1
END
heat() {
    up --profile "$dir/hot.conf"
    set -- cat=thermal
    while [ $# -lt 40 ]; do set -- "$@" work=1000000; done
    ./client "$@" cat=thermal cat=clock
    "$hexrig" filter --mount "$dir/rig" +cost:host_us=500000
    ./client work=1000000 cat=thermal
    down
}
heat >out
grep -v '^session=' out >first
case $(field temperature_c <out) in 25.*) ;; *) fail "it does not start cold: $(head -3 out)" ;; esac
set -- $(sed -n 's/^work=1000000 .*exec_ns=//p' out)
first=$1
slowest=$(printf '%s\n' "$@" | sort -n | tail -n 1)
for last in "$@"; do :; done
[ "$slowest" -gt $((first + first / 10)) ] || fail "no throttling: $*"
[ "$last" = "$first" ] || fail "after a pause it is as fast as at first: $first, $last"
sed -n 's/^levels_taken=//p' out | grep -qv '^0$' || fail "thermal says nothing of it"
[ "$(grep -c '^levels_taken=0$' out)" -ge 2 ] || fail "it did not recover"
heat >out
grep -v '^session=' out | cmp -s - first || fail "the second run has other figures: $(diff out first)"

# --- time: real takes the modelled time, off has none
up --profile s22u-577 --time real
set -- vote=0
while [ $# -lt 100 ]; do set -- "$@" vote=0; done
start=$(date +%s%N)
./client "$@" >out
[ $((($(date +%s%N) - start) / 1000)) -ge $((100 * 1733)) ] || fail "100 calls of 1733 us took less"
down
up --time off
./client work=1000 | grep -q ' dispatch_ns=0 exec_ns=0$' || fail "--time off"
"$hexrig" status --mount "$dir/rig" | grep -q '^time=off$' || fail "status of --time off"
down

# --- messages: a file named after the program, in a skel folder
echo 0x1f >client.farf
DSP_LIBRARY_PATH=$dir ./client say >out 2>err
grep -q 'LOW: power_skel.c:[0-9]*: a runtime message' err && ! grep -q compiled-out err || fail "mask file: $(cat err)"
rm client.farf
DSP_LIBRARY_PATH=$dir ./client say >out 2>err
[ ! -s err ] || fail "messages without a mask: $(cat err)"
echo "power: $first ns, throttled $slowest ns"
