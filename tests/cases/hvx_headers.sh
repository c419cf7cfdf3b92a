#!/bin/sh
# The HVX headers build as C and C++ with gcc and clang, without a warning, and refuse what a V69 does not have.
# Usage: hvx_headers.sh BUILD (unused)
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp "$src/tests/data/hvx/families.c" "$dir/c.c"
cp "$src/tests/data/hvx/families.c" "$dir/cc.cc"
flags="-O1 -Wall -Wextra -Werror -Wno-psabi -I$src/dsp/include -I$src/dsp/include/hexrig"
tried=0
for cc in gcc g++ clang clang++; do
    command -v $cc >/dev/null || { echo "$cc: not here"; continue; }
    case $cc in *++) file=cc.cc std=-fno-strict-aliasing ;; *) file=c.c std=-std=gnu11 ;; esac
    for extra in "" -march=native -DHEXRIG_COUNT "-DHEXRIG_HVX_IEEE -DHEXRIG_HVX_ARCH=73"; do
        $cc $std $flags $extra -c "$dir/$file" -o "$dir/o.o"
    done
    tried=$((tried + 1))

    # refused unless asked for
    printf '#include <hvx_hexagon_protos.h>\nHVX_Vector f(HVX_Vector a);\nHVX_Vector f(HVX_Vector a) { return %s; }\n' \
        'Q6_Vsf_vadd_VsfVsf(a, a)' >"$dir/ieee-$file"
    sed 's/Q6_Vsf_vadd_VsfVsf(a, a)/Q6_Vw_equals_Vsf(a)/' "$dir/ieee-$file" >"$dir/v73-$file"
    for f in ieee v73; do
        if $cc $std $flags -c "$dir/$f-$file" -o "$dir/o.o" 2>"$dir/err"; then
            echo "$cc accepts an intrinsic that V69 does not have ($f)" >&2
            exit 1
        fi
        grep -q 'HEXRIG_HVX_[IA]' "$dir/err" || { echo "$cc: no reason given ($f)" >&2; exit 1; }
        $cc $std $flags -DHEXRIG_HVX_IEEE -DHEXRIG_HVX_ARCH=73 -c "$dir/$f-$file" -o "$dir/o.o"
    done
done
[ $tried -gt 0 ]
echo "$tried compilers"
