#!/bin/sh
# Runs every integer intrinsic here and under qemu-hexagon on the same inputs and compares the results bit for bit.
# Usage: run.sh BUILD.  Exit: 0 all verified, 1 a mismatch or a failed run, 77 no tools (and the reason).
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/tools.sh"
tools_dir "$1"

say() { echo "oracle: $*" >&2; }

"$here/fetch.sh" "$tools"
case $? in 0) ;; 77) exit 77 ;; *) say "skip: cannot fetch clang-19, lld-19 and qemu-user"; exit 77 ;; esac

set -e
awk -F' [|] ' -f "$here/gen.awk" "$here/hvx-v69-intrinsics.txt" "$here/scalar-intrinsics.txt" >"$dir/cases.inc"
cases=$(sed -n 's/^#define ORACLE_CASES //p' "$dir/cases.inc")
hexagon_cc -I"$root/dsp/include/hexrig" -I"$here" -I"$dir" "$here/side_qemu.c" -o "$dir/side_qemu"
${CC:-gcc} -std=gnu11 -O2 -march=native -Wall -Wextra -Wno-psabi -D_GNU_SOURCE -DHEXRIG_COUNT -I"$root/dsp/include" -I"$root/dsp/include/hexrig" \
    -I"$here" -I"$dir" "$here/side_host.c" "$root/dsp/machine/hvx_count.c" -o "$dir/side_host"
# our own kernels build for the real thing, too
for f in "$root"/kernels/spinor/*_hvx.c; do
    hexagon_cc -std=gnu11 -Wall -Werror -I"$root/rpc/include" -I"$root/rpc/wire" -I"$root/rpc/block" -I"$root/dsp/libc" -I"$root/kernels" -I"$root/tests/lib" -idirafter "$root/dsp/include" -idirafter "$root/dsp/include/hexrig" -c "$f" -o "$dir/kernel.o" || {
        say "$f does not compile for hexagonv69"
        exit 1
    }
done
hexagon_cc -std=gnu11 -Wall -Werror -ffp-contract=off -I"$root/rpc/include" -I"$root/rpc/wire" -I"$root/rpc/block" -I"$root/dsp/libc" -I"$root/kernels" -I"$root/tests/lib" \
    -idirafter "$root/dsp/include" -idirafter "$root/dsp/include/hexrig" "$here/kernels_side.c" "$root/rpc/block/hx_block.c" "$root/rpc/block/hx_crc.c" -o "$dir/kernels_qemu"
${CC:-gcc} -std=gnu11 -O2 -march=native -ffp-contract=off -Wall -Wextra -Wno-psabi -D_GNU_SOURCE -DHEXRIG_COUNT -I"$root/rpc/include" -I"$root/rpc/wire" -I"$root/rpc/block" \
    -I"$root/dsp/include" -I"$root/dsp/include/hexrig" -I"$root/kernels" -I"$root/tests/lib" "$here/kernels_side.c" "$root/rpc/block/hx_block.c" "$root/rpc/block/hx_crc.c" \
    "$root/dsp/machine/hvx_count.c" -o "$dir/kernels_host"
set +e

# what our kernels do with integers, bit for bit
"$dir/kernels_host" >"$dir/kernels_host.bin" && "$qemu" "$dir/kernels_qemu" >"$dir/kernels_qemu.bin" || {
    say "the kernels' runs failed"
    exit 1
}
"$dir/kernels_host" names >"$dir/kernels.names"
bad=$(cmp -l "$dir/kernels_host.bin" "$dir/kernels_qemu.bin" | awk '{ n[int(($1 - 1) / 8) + 1] } END { for (i in n) print i }' |
    sort -n | head -n 5)
if [ -n "$bad" ] || ! cmp -s "$dir/kernels_host.bin" "$dir/kernels_qemu.bin"; then
    for i in $bad; do say "kernels: result $i, $(sed -n "${i}p" "$dir/kernels.names"), differs"; done
    exit 1
fi
echo "kernels, integer parts: $(wc -l <"$dir/kernels.names") results equal"

# qemu < 10 runs some of the newer instructions as nothing at all, and says so only by its exit status.
half=$((cases / 2))
"$qemu" "$dir/side_qemu" 0 $half >"$dir/first.bin" & first=$!
"$qemu" "$dir/side_qemu" $half "$cases" >"$dir/second.bin"; second_rc=$?
wait $first; first_rc=$?
if [ $first_rc -ne 0 ] || [ $second_rc -ne 0 ]; then
    say "qemu-hexagon ended with status $first_rc and $second_rc"
    exit 1
fi
cat "$dir/first.bin" "$dir/second.bin" >"$dir/qemu.bin"

"$dir/side_host" check "$dir/qemu.bin" >"$dir/log"; rc=$?
cat "$dir/log"
sed -n 's/^mismatch .* case \([0-9]*\) batch \([0-9]*\)$/\1 \2/p' "$dir/log" | while read -r c b; do
    "$qemu" "$dir/side_qemu" -d "$c" "$b" | "$dir/side_host" diff "$c" "$b"
done
awk -F' [|] ' '$10 == "qf/v69-float" { n++ } END { print "float names, by the golden vectors and test_qfloat: " n "/" n }' \
    "$here/hvx-v69-intrinsics.txt"
[ $rc -eq 0 ] || exit 1
# What the offline test compares with: one number per case.
"$dir/side_host" digest "$dir/qemu.bin" >"$dir/hvx-oracle.txt"
cmp -s "$dir/hvx-oracle.txt" "$root/tests/data/hvx-oracle.txt" ||
    { say "tests/data/hvx-oracle.txt is out of date: copy $dir/hvx-oracle.txt there"; exit 1; }
