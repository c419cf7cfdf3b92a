#!/bin/sh
# Modelled pcycles do not depend on how the host's compiler optimises a skel: libsilicon_skel.so at -O0 to -O3, the same questions.
# Usage: optimiser.sh BUILD
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if grep -q -e -fsanitize -e clang "$build/obj/cc.flags"; then
    exec sh tests/skip.sh "only gcc traces loads and stores, and not for a sanitizer"
fi

ask() { # ask KERNEL SHAPE BUILD PLACEMENT...: its figures, a line each
    kernel=$1 shape=$2 code=$3
    shift 3
    for placement; do
        "$build/bin/hexrig" report timing --kernel $kernel --shape $shape --build $code --placement $placement --shared >"$dir/out"
        echo "$kernel $shape $code $placement: $(grep '^pcycles' "$dir/out" | tr '\n' ' ')"
    done
}
questions() {
    ask matmul 2x300x900 release ddr vtcm dma
    ask matmul 2x300x900 debug ddr
    ask matmul 2x1100x1100 release ddr # more than L2 holds
    ask matmul-single 1x1100x300 release ddr
    ask matmul-qf32 1x256x200 release ddr vtcm
    ask modmatmul 2x300x128 release ddr vtcm
    ask barrett 4096 release ddr
    ask ntt-scalar 256 release ddr
    ask ntt-hvx 256 release ddr
    ask intt 256 release ddr
    ask vht2 128 debug ddr
    ask vht2-hvx 128 debug ddr vtcm
    ask compress 64x8 debug ddr
    ask dot 1024x4 release ddr
    ask argmax 20000 release ddr
    ask axpby 40000 release ddr vtcm
    ask echo 30000 debug ddr
}

mkdir "$dir/skels" "$dir/none"
: >"$dir/none/libsilicon_skel.so"
if DSP_LIBRARY_PATH=$dir/none "$build/bin/hexrig" report timing --kernel vht2 >"$dir/out" 2>&1; then
    echo "optimiser: the skel was not taken from DSP_LIBRARY_PATH" >&2
    exit 1
fi
for level in 0 1 2 3; do
    mkdir "$dir/skels/$level"
    make -s BUILD="$dir/O$level" OPT=-O$level "$dir/O$level/lib/libsilicon_skel.so" >"$dir/log" 2>&1 || { cat "$dir/log" >&2; exit 1; }
    mv "$dir/O$level/lib/libsilicon_skel.so" "$dir/skels/$level"
    rm -rf "$dir/O$level"
    DSP_LIBRARY_PATH=$dir/skels/$level questions >"$dir/figures.$level"
    grep -q 'pcycles.handler=[1-9]' "$dir/figures.$level" || { echo "optimiser: no figures" >&2; cat "$dir/figures.$level" >&2; exit 1; }
    diff "$dir/figures.0" "$dir/figures.$level" >&2 || { echo "optimiser: -O0 and -O$level differ" >&2; exit 1; }
done
echo "optimiser: $(wc -l <"$dir/figures.0") questions, the same figures at -O0, -O1, -O2 and -O3"
