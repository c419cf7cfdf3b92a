#!/bin/sh
# Modelled pcycles do not depend on how the host's compiler optimises a skel: BUILD's libsilicon_skel.so, the same at -O0 and -O3 or at other
# levels, the same questions.
# Usage: optimiser.sh BUILD [LEVEL...]
set -eu
build=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- 0 3
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if grep -q -e -fsanitize -e clang "$build/obj/cc.flags"; then
    exec sh tests/skip.sh "only gcc traces loads and stores, and not for a sanitizer"
fi

ask() { # ask KERNEL SHAPE BUILD PLACEMENT [ARGUMENT...]: its figures, a line
    kernel=$1 shape=$2 code=$3 placement=$4
    shift 4
    "$build/bin/hexrig" report timing --kernel "$kernel" --shape "$shape" --build "$code" --placement "$placement" --shared "$@" >"$dir/out"
    echo "$kernel $shape $code $placement $*: $(grep '^pcycles' "$dir/out" | tr '\n' ' ')"
}
questions() {
    for placement in ddr vtcm dma; do ask matmul 2x300x900 release $placement; done
    ask matmul 2x300x900 debug ddr
    ask matmul 2x1100x1100 release ddr # more than L2 holds
    for placement in ddr vtcm dma; do ask matmul 2x300x900 release $placement --threads 2; done
    ask matmul-single 1x1100x300 release ddr
    ask matmul-qf32 1x256x200 release ddr
    ask matmul-qf32 1x256x200 release vtcm
    ask modmatmul 2x300x128 release ddr --threads 2
    ask modmatmul 2x300x128 release vtcm
    ask barrett 4096 release ddr
    ask ntt-scalar 256 release ddr
    ask ntt-hvx 256 release ddr
    ask intt 256 release ddr
    ask vht2 128 debug ddr
    ask vht2-hvx 128 debug ddr
    ask vht2-hvx 128 debug vtcm
    ask compress 64x8 debug ddr
    ask dot 1024x4 release ddr
    ask argmax 20000 release ddr
    ask axpby 40000 release ddr
    ask axpby 40000 release vtcm
    ask echo 30000 debug ddr
    ask rope 4x256 release ddr --threads 2
    ask gelu-hvx 4x1152 release vtcm --threads 2
}

mkdir "$dir/none"
: >"$dir/none/libsilicon_skel.so"
if DSP_LIBRARY_PATH=$dir/none "$build/bin/hexrig" report timing --kernel vht2 >"$dir/out" 2>&1; then
    echo "optimiser: the skel was not taken from DSP_LIBRARY_PATH" >&2
    exit 1
fi
DSP_LIBRARY_PATH=$build/lib questions >"$dir/figures"
grep -q 'pcycles.handler=[1-9]' "$dir/figures" || { echo "optimiser: no figures" >&2; cat "$dir/figures" >&2; exit 1; }
for level; do
    [ -f "$build/tests/O$level/libsilicon_skel.so" ] || { echo "optimiser: no skel at -O$level: make level-skels" >&2; exit 1; }
    DSP_LIBRARY_PATH=$build/tests/O$level questions >"$dir/figures.$level"
    diff "$dir/figures" "$dir/figures.$level" >&2 || { echo "optimiser: $build/lib and -O$level differ" >&2; exit 1; }
done
echo "optimiser: $(wc -l <"$dir/figures") questions, the same figures at -O$(echo "$@" | sed 's/ /, -O/g') and in $build/lib"
