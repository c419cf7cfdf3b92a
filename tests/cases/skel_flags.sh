#!/bin/sh
# Skel sources build without a warning with the flags of pkg-config --cflags hexrig-skel plus -Wall -Wextra: C and C++, gcc
# and clang; what is built runs, and a shared object has the base that --libs gives.  Usage: skel_flags.sh BUILD
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
PKG_CONFIG_PATH=$(cd "$1" && pwd)/lib/pkgconfig
export PKG_CONFIG_PATH
command -v pkg-config >/dev/null || { echo "skip: no pkg-config"; exit 77; }
cflags=$(pkg-config --cflags hexrig-skel)
untraced=$(pkg-config --define-variable=trace= --cflags hexrig-skel)
case $untraced in *sanitize*) echo "there is no way to turn the trace off: $untraced" >&2; exit 1 ;; esac
libs=$(pkg-config --libs hexrig-skel)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

for f in cxx/types data/hvx/families; do
    cp "$src/tests/$f.c" "$dir/"
    cp "$src/tests/$f.c" "$dir/${f##*/}.cc"
done
tried=0
for cc in gcc g++ clang clang++; do
    command -v $cc >/dev/null || { echo "$cc: not here"; continue; }
    case $cc in
    *++) ext=cc std=-std=gnu++17 ;; # standard containers of vectors need its aligned new
    *) ext=c std= ;;
    esac
    case $cc in clang*) flags=$untraced ;; *) flags=$cflags ;; esac
    for opt in -O2 "-O0 -UHEXRIG_COUNT" "-O2 -march=native -UHEXRIG_COUNT"; do
        $cc $std $flags $opt -Wall -Wextra -Werror -c "$dir/families.$ext" -o "$dir/families.o"
        $cc $std $untraced $opt -Wall -Wextra -Werror -c "$dir/types.$ext" -o "$dir/types.o"
        case $opt in *-U*) ;; *) continue ;; esac # the counters live in hexrig-dsp
        $cc "$dir/types.o" -lm -o "$dir/types"
        "$dir/types" || { echo "$cc $opt: types returned $?" >&2; exit 1; }
    done
    tried=$((tried + 1))
done
[ $tried -gt 0 ]

gcc -O2 $cflags "$dir/families.c" $libs -o "$dir/libfamilies_skel.so"
base_of() { # the lowest address that a shared object asks for
    readelf -lW "$1" | awk '$1 == "LOAD" { print $3; exit }'
}
base=$(base_of "$dir/libfamilies_skel.so")
[ $((base)) = $(($(pkg-config --variable=skel_base hexrig-skel))) ] ||
    { echo "the skel does not have its base" >&2; exit 1; }
# every skel that is built here has a base of its own (at another level of the optimiser the same), and none has that of a stranger's
for f in "$1"/lib/*_skel.so "$1"/tests/lib*_skel.so "$dir/libfamilies_skel.so"; do
    case $f in *_O[0-3]_skel.so) continue ;; esac
    base_of "$f"
done | sort | uniq -d >"$dir/twice"
[ ! -s "$dir/twice" ] || { echo "two skels at $(cat "$dir/twice")" >&2; exit 1; }

# What clang makes of the first of the trace flags alone would end at its first load, so it must not take all of them.
if command -v clang >/dev/null && clang $cflags -fsyntax-only "$dir/types.c" 2>/dev/null; then
    echo "clang took the trace flags" >&2
    exit 1
fi

# The generated spellings belong to the table.
awk -F' [|] ' -f "$src/tools/gen-scalar-builtins.awk" "$src/tests/oracle_scalar/scalar-v69-intrinsics.txt" |
    cmp - "$src/dsp/include/hexrig/hexrig_scalar_builtins.h"

# An installation elsewhere gives its own paths.
mkdir -p "$dir/there/lib" "$dir/there/include"
cp -R "$1/lib/pkgconfig" "$dir/there/lib/"
cp -R "$1/include/hexrig" "$dir/there/include/"
PKG_CONFIG_PATH=$dir/there/lib/pkgconfig
gcc $(pkg-config --cflags hexrig-skel) -Wall -Wextra -Werror -fsyntax-only "$dir/types.c"
echo "$tried compilers"
