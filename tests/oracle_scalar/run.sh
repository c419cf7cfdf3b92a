#!/bin/sh
# Runs every scalar intrinsic here and under qemu-hexagon on the same inputs and compares the results bit for bit.
# Usage: run.sh BUILD.  Exit: 0 all verified, 1 a mismatch or a failed run, 77 no tools (and the reason).
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../oracle/tools.sh"
tools_dir "$1"
out=$dir/scalar
mkdir -p "$out"

"$here/../oracle/fetch.sh" "$tools"
case $? in 0) ;; 77) exit 77 ;; *) echo "scalar oracle: skip: cannot fetch clang-19, lld-19 and qemu-user" >&2; exit 77 ;; esac

set -e
awk -F' [|] ' -f "$here/gen.awk" "$here/scalar-v69-intrinsics.txt" >"$out/scalar_cases.inc"
hexagon_cc -w -I"$here" -I"$out" "$here/side_qemu.c" -o "$out/side_qemu"
${CC:-gcc} -std=gnu11 -O2 -ffp-contract=off -Wall -Wextra -Wno-psabi -I"$root/dsp/include" -I"$root/dsp/include/hexrig" -I"$here" -I"$out" \
    "$here/side_host.c" -o "$out/side_host"
hexagon_cc -w -I"$here" "$here/circ_brev_qemu.c" -o "$out/circ_brev_qemu"
set +e

# circular and bit-reversed buffers: a number per case, in the order of the list
"$qemu" "$out/circ_brev_qemu" | od -An -v -t x4 -w4 | tr -d ' ' >"$out/circ_brev.txt"
awk '{ print $1 }' "$root/tests/data/circ-brev-oracle.txt" | cmp -s - "$out/circ_brev.txt" ||
    { echo "scalar oracle: tests/data/circ-brev-oracle.txt: $out/circ_brev.txt has other numbers" >&2; exit 1; }
echo "circular and bit-reversed buffers: $(wc -l <"$out/circ_brev.txt") cases equal"

"$qemu" "$out/side_qemu" >"$out/qemu.bin"; rc=$?
[ $rc -eq 0 ] || { echo "scalar oracle: qemu-hexagon ended with status $rc" >&2; exit 1; }
"$out/side_host" check "$out/qemu.bin" >"$out/log"; rc=$?
cat "$out/log"
sed -n 's/^mismatch .* case //p' "$out/log" | while read -r c; do
    "$qemu" "$out/side_qemu" "$c" | "$out/side_host" diff "$c"
done
[ $rc -eq 0 ] || exit 1
# What the offline test compares with.
"$out/side_host" digest "$out/qemu.bin" >"$out/scalar-oracle.txt"
cmp -s "$out/scalar-oracle.txt" "$root/tests/data/scalar-oracle.txt" ||
    { echo "scalar oracle: tests/data/scalar-oracle.txt is out of date: copy $out/scalar-oracle.txt there" >&2; exit 1; }
