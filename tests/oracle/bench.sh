#!/bin/sh
# Speed of the HVX intrinsics here, beside qemu-hexagon and hand-written AVX2.  Usage: bench.sh BUILD
# Without the tools (see fetch.sh) the qemu column is left out, and it says so.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/tools.sh"
tools_dir "$1"
${CC:-gcc} -std=gnu11 -O2 -march=native -ffp-contract=off -Wall -Wextra -Wno-psabi -D_GNU_SOURCE -I"$root/dsp/include" -I"$root/dsp/include/hexrig" \
    "$here/bench_host.c" -o "$dir/bench_host"
if "$here/fetch.sh" "$tools"; then
    hexagon_cc -I"$here" "$here/bench_qemu.c" -o "$dir/bench_qemu"
    "$qemu" "$dir/bench_qemu" 2 5000 5000 >"$dir/bench.txt"
    exec "$dir/bench_host" "$dir/bench.txt"
fi
echo "bench: no qemu-hexagon, so no comparison with it" >&2
exec "$dir/bench_host"
