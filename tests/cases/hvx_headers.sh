#!/bin/sh
# The HVX headers build as C and C++ with gcc and clang, without a warning, and refuse what a V69 does not have; <hexagon_types.h> alone
# brings all that foreign code takes from it; IEEE chains round alike in every build.
# Usage: hvx_headers.sh BUILD (unused)
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp "$src/tests/data/hvx/families.c" "$dir/c.c"
cp "$src/tests/data/hvx/families.c" "$dir/cc.cc"
cp "$src/tests/data/hvx/sdk_names.c" "$dir/names-c.c"
cp "$src/tests/data/hvx/sdk_names.c" "$dir/names-cc.cc"
flags="-Wall -Wextra -Werror -Wno-psabi -I$src/dsp/include -I$src/dsp/include/hexrig"
tried=0
for cc in gcc g++ clang clang++; do
    command -v $cc >/dev/null || { echo "$cc: not here"; continue; }
    case $cc in *++) file=cc.cc std=-fno-strict-aliasing ;; *) file=c.c std=-std=gnu11 ;; esac
    # without vectors of the host an optimiser takes long, and skel_flags.sh has that
    for extra in "" "-O1 -march=native" -DHEXRIG_COUNT "-DHEXRIG_HVX_IEEE -DHEXRIG_HVX_ARCH=73"; do
        $cc $std $flags $extra -c "$dir/$file" -o "$dir/o.o"
    done
    for extra in "" -D__hexagon__ -DHEXRIG_CHECK "-DHEXRIG_HVX_IEEE -DHEXRIG_HVX_ARCH=73"; do
        $cc $std $flags $extra -fsyntax-only "$dir/names-$file"
    done
    for opt in "-O2 -march=native" "-O3 -march=native -ffp-contract=fast" -O0; do
        case $cc in *++) break ;; esac
        $cc $flags -w $opt -DHEXRIG_HVX_IEEE "$src/tests/data/hvx/rounding.c" -o "$dir/rounding"
        echo "$("$dir/rounding") $cc $opt" >>"$dir/rounded"
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
# 0: the product was rounded by itself
awk '$1 != "0" || (NR > 1 && $2 != first) { bad = 1 } NR == 1 { first = $2 } END { exit bad }' "$dir/rounded" ||
    { echo "builds round differently:"; cat "$dir/rounded"; exit 1; } >&2
# the lists of names belong to the tables
for t in oracle/hvx oracle_scalar/scalar; do
    awk -F' [|] ' -f "$src/tools/gen-intrinsic-names.awk" "$src/tests/$t-v69-intrinsics.txt" |
        cmp - "$src/dsp/include/hexrig/hexrig_${t#*/}_names.h"
done
echo "$tried compilers"
