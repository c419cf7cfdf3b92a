#!/bin/sh
# Speed of the HVX intrinsics here, beside hand-written versions and qemu-hexagon.  Usage: bench.sh BUILD
# Without the tools (see fetch.sh) the qemu column is left out, and it says so.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/tools.sh"
tools_dir "$1"
${CC:-gcc} -std=gnu11 -O2 -march=native -ffp-contract=off -Wall -Wextra -Wno-psabi -D_GNU_SOURCE -I"$root/dsp/include" -I"$root/dsp/include/hexrig" \
    "$here/bench_host.c" -o "$dir/bench_host"
# each intrinsic alone, with the registers of this machine and with those of AVX2
vectors() { # vectors MARCH [OPTION...]
    march=$1
    shift
    ${CC:-gcc} -std=gnu11 -O2 -march="$march" "$@" -ffp-contract=off -Wall -Wextra -Wno-psabi -D_GNU_SOURCE -I"$root/dsp/include" \
        -I"$root/dsp/include/hexrig" -I"$here" -I"$dir" "$here/bench_vectors.c" -o "$dir/bench_vectors"
    "$dir/bench_vectors" || [ $? = 77 ]
}
awk -F' [|] ' -f "$here/vectors.awk" "$here/hvx-v69-intrinsics.txt" >"$dir/vectors.inc"
vectors native
if grep -qw avx512bw /proc/cpuinfo; then # so native was not AVX2
    case $(${CC:-gcc} --version) in
    *clang*) vectors x86-64-v3 ;;
    *) vectors x86-64-v3 -mmove-max=256 ;;
    esac
fi
if "$here/fetch.sh" "$tools"; then
    hexagon_cc -I"$here" "$here/bench_qemu.c" -o "$dir/bench_qemu"
    "$qemu" "$dir/bench_qemu" 2 5000 5000 >"$dir/bench.txt"
    exec "$dir/bench_host" "$dir/bench.txt"
fi
echo "bench: no qemu-hexagon, so no comparison with it" >&2
exec "$dir/bench_host"
