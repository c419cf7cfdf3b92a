#!/bin/sh
# The checking build stops a PD that misuses HVX or VTCM, with a message that names code and address, and the trace
# callbacks count loads and stores by place.  Usage: hvx_faults.sh BUILD
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
command -v gcc >/dev/null || { echo "skip: no gcc"; exit 77; }
ulimit -c 0
# the flags of hexrig_hvx_trace.h and hexrig_hvx_check.h
gcc -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Wno-psabi -DHEXRIG_CHECK -DHEXRIG_COUNT -fsanitize=alignment \
    -fsanitize=kernel-address --param asan-instrumentation-with-call-threshold=0 --param asan-stack=0 \
    --param asan-globals=0 -fno-pie -I"$src/dsp/include" -I"$src/dsp/include/hexrig" -I"$src/dsp" -I"$src/rpc/include" -I"$src/rpc/wire" \
    -c "$src/tests/data/hvx/faults.c" -o "$dir/faults.o"
gcc -no-pie -rdynamic "$dir/faults.o" "$1/obj/libhxdsp.a" "$1/obj/libhxwire.a" -lnuma -ldl -lpthread -lm -o "$dir/faults"

counts=$("$dir/faults" none)
want="load vtcm=2048 ddr=8320 store vtcm=8320 ddr=2048"
[ "$counts" = "$want" ] || { echo "counted '$counts', want '$want'" >&2; exit 1; }

stopped() { # stopped NAME PATTERN: the run dies and says PATTERN
    if "$dir/faults" "$1" >/dev/null 2>"$dir/err"; then
        echo "$1: was not stopped" >&2
        exit 1
    fi
    grep -q "$2" "$dir/err" || { echo "$1: said '$(cat "$dir/err")', want '$2'" >&2; exit 1; }
}
stopped context "HVX used without an HVX context: Q6_V"
stopped misaligned "misaligned access: .* of alignment 128 at address 0x[0-9a-f]*, .*faults.c:[0-9]*, in kernel_copy"
stopped past "access past what was granted of VTCM: store, address 0x[0-9a-f]*, in kernel_copy"
stopped context-past "access past what was granted of VTCM: store, address 0x[0-9a-f]*, in kernel_copy"
stopped context-rests "access past what was granted of VTCM: store, address 0x[0-9a-f]*, in kernel_copy"
stopped gather "outside of granted VTCM: Q6_vgather_ARMVw, address 0x"
stopped scatter "outside of granted VTCM: Q6_vscatter_RMVwV, address 0x"
stopped splat "float inf given to a splat, which takes an int: .*, in kernel_clamp"
echo "8 faults stopped"
