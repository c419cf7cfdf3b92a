#!/bin/sh
# XNNPACK's HVX functions, unchanged, against their scalar twins: its 304 HVX files are compiled by the SDK-shaped prefix's hexagon-clang
# with XNNPACK's own flags, for V69; each of the 370 functions runs here on the same random inputs as its twin (families.txt, twins.h), and
# those that differ are the ones of differ.txt, which says why.  Half an hour the first time; objects stay in BUILD/xnnpack.
# Usage: run.sh BUILD [WORD]: all, or the functions that have WORD in their names.  Exit: 0, 1, 77 there are no sources.
set -eu
build=$(cd "$1" && pwd)
word=${2:-}
own=$(cd "$(dirname "$0")" && pwd)
out=$build/xnnpack
sdk=$build/share/hexrig/sdk
. "$own/../peer/sources.sh" # sets $sources; exit 77 without
fetch_sources XNNPACK google
fetch_sources pthreadpool google
mkdir -p "$out"

# cmake/hexagon.toolchain's flags, with v69 for v68.  Behind them: gcc takes long for some files with -O2; what a skel tells the rig of
# its operations, loads and stores, nobody asks for here
flags="-O2 -mv69 -mhvx -mhvx-ieee-fp -fPIC -DXNN_ENABLE_HVX=1 -DXNN_ENABLE_CPUINFO=0 -I. -Iinclude -I../pthreadpool/include"
export HEXRIG_CFLAGS="-O1 -UHEXRIG_COUNT -fno-sanitize=kernel-address -fno-sanitize-coverage=trace-pc"
export clang="$sdk/tools/Tools/bin/hexagon-clang" flags out
[ -z "$(find "$build/include/hexrig" -newer "$out/headers" 2>/dev/null | head -n 1)" ] && [ -e "$out/headers" ] || {
    rm -f "$out"/*.o
    : >"$out/headers"
}
cd "$sources/XNNPACK"

# one process per file, as many as there are processors; $1 of the words below is the file
compile() { # compile COMMAND: files from stdin, to $out/NAME.o
    # shellcheck disable=SC2016 # for the inner shell
    xargs -P "$(nproc)" -n 1 sh -c 'o=$out/$(basename "$1" .c).o
        [ "$o" -nt "$1" ] || '"$1"' -c "$1" -o "$o" 2>"$o.err" || { echo "FAIL $1: $(grep -m 1 error "$o.err")"; rm -f "$o"; }' sh
}
find src -name '*hvx*.c' | sort >"$out/files"
while read -r file; do
    [ -z "$word" ] || grep -q "^void xnn_[a-z0-9_]*$word" "$file" || continue
    echo "$file"
done <"$out/files" >"$out/wanted"
# shellcheck disable=SC2016
compile '$clang $flags' <"$out/wanted" | tee "$out/failed"
objects=$(sed 's|.*/\(.*\)\.c$|'"$out"'/\1.o|' "$out/wanted")
[ ! -s "$out/failed" ] || exit 1
echo "$(wc -l <"$out/wanted") of $(wc -l <"$out/files") files compiled"

# the functions, their twins, and the table of both
xargs sed -n 's/^void xnn_\([a-z0-9_]*_ukernel_[a-z0-9_]*\)(.*/\1/p' <"$out/wanted" | LC_ALL=C sort -u >"$out/names"
awk -f "$own/table.awk" "$own/families.txt" "$out/names" >"$out/table.inc"
sed -n 's/.*, xnn_[a-z0-9_]*, \(xnn_[a-z0-9_]*\), run_.*/\1/p' "$out/table.inc" | sort -u >"$out/scalars"
while read -r name; do
    grep -rl --include='*scalar*.c' "^void $name(" src | head -n 1
done <"$out/scalars" | sort -u >"$out/twins"
# shellcheck disable=SC2016
compile 'gcc -O1 -w -ffp-contract=off -fno-strict-aliasing -D__hexagon__ -I. -Iinclude -I../pthreadpool/include' <"$out/twins"
objects="$objects $(sed 's|.*/\(.*\)\.c$|'"$out"'/\1.o|' "$out/twins")"
# shellcheck disable=SC2086
"$clang" $flags -Wall -Wextra -I"$own" -I"$out" "$own"/*.c $objects -o "$out/run" -lm
"$out/run" $word >/dev/null 2>"$out/results" || { tail -n 1 "$out/results"; exit 1; }

tail -n 1 "$out/results"
awk '!/ same, / && NF > 3 { print $1 }' "$out/results" | LC_ALL=C sort >"$out/differ"
grep -v '^#' "$own/differ.txt" | grep -F "$word" | LC_ALL=C sort | diff - "$out/differ" || {
    echo "FAIL: these functions, > or no more <, are not those of differ.txt"
    exit 1
}
echo "ok   those that differ are the ones that tests/xnnpack/differ.txt explains"
