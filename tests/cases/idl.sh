#!/bin/sh
# hexidl's output compiles without a warning, as C11 and as a C++ header, and carries every type in every direction there
# and back: stub and skel of tests/data/idl joined by a device in memory, under ASan and UBSan.  Usage: idl.sh [BUILD]
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-build}" && pwd)
data=$src/tests/data/idl
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cc=${CC:-gcc}
flags="-D_GNU_SOURCE -g -Wall -Wextra -Wshadow -Wstrict-prototypes -Werror -I$src/rpc/include -I$dir"

for f in "$data"/*.idl "$src/kernels/spinor/sp_hex.idl"; do
    "$build/bin/hexidl" "$f" -o "$dir"
done
[ ! -e "$dir/types_only_stub.c" ] || { echo "idl: a stub without an interface" >&2; exit 1; }
for f in "$dir"/*.c; do
    $cc -std=c11 $flags -c "$f" -o "$f.o"
done
for f in "$dir"/*.h; do
    $cc -std=c11 $flags -fsyntax-only -include "$f" -x c /dev/null
    if command -v "${CXX:-g++}" >/dev/null; then
        ${CXX:-g++} -std=c++11 -Wall -Wextra -Wshadow -Werror -I"$src/rpc/include" -I"$dir" -fsyntax-only \
            -include "$f" -x c++ /dev/null
    fi
done
# 64 bits are what either side's code has: `long long` for hosts, int64_t for skels
cat >"$dir/wide.idl" <<'END'
#include "AEEStdDef.idl"
#include "remote.idl"
interface wide : remote_handle64 {
    AEEResult hwinfo(rout uint64 bytes, rout int64 difference);
};
END
"$build/bin/hexidl" "$dir/wide.idl" -o "$dir"
echo '#include "wide.h"
AEEResult wide_hwinfo(remote_handle64 h, unsigned long long *bytes, long long *difference);
AEEResult ask(remote_handle64 h, unsigned long long *bytes, int64 *difference);
AEEResult ask(remote_handle64 h, unsigned long long *bytes, int64 *difference) { return wide_hwinfo(h, bytes, difference); }' |
    $cc -std=c11 $flags -fsyntax-only -x c -
echo '#include "wide.h"
AEEResult wide_hwinfo(remote_handle64 h, uint64_t *bytes, int64_t *difference)
{ *bytes = h; *difference = 0; return 0; }' | $cc -std=c11 $flags -DHEXRIG_SKEL -fsyntax-only -x c -
$cc -std=c11 $flags -DHEXRIG_SKEL -c "$dir/wide_skel.c" -o "$dir/wide_skel.o"
# comments are the IDL author's
awk 'length > 110 && !/^ ?\/?\*/ { print FILENAME ":" FNR ": " length " columns"; bad = 1 } END { exit bad }' \
    "$dir"/sp_hex*.[ch] >&2

# both sides have functions of the same names: the DSP's are in a library of their own
san="-fsanitize=address,undefined -fno-sanitize-recover=all"
$cc -std=c11 $flags $san -DHEXRIG_SKEL -shared -fPIC -Wl,-Bsymbolic "$dir/every_skel.c" "$dir/plain_skel.c" \
    "$data/round_imp.c" -o "$dir/libround_skel.so"
# wild numbers reach the implementation, which adds them up
$cc -std=gnu11 $flags $san -DHEXRIG_SKEL -fwrapv -shared -fPIC -Wl,-Bsymbolic "$dir/deep_skel.c" "$data/deep_imp.c" -o "$dir/libdeep_skel.so"
$cc -std=gnu11 $flags $san "$dir/deep_stub.c" "$data/deep_main.c" -o "$dir/deep" -ldl
$cc -std=c11 $flags $san "$dir/every_stub.c" "$dir/plain_stub.c" "$data/round_main.c" -o "$dir/round" -ldl -lpthread
for seed in 1 2 3; do
    "$dir/round" "$dir/libround_skel.so" $seed
    "$dir/deep" "$dir/libdeep_skel.so" $((seed * 1000))
done

# the command: the same from hexrig, an error names its place, nothing is left of it
mkdir "$dir/again" "$dir/none"
"$build/bin/hexrig" idl "$src/kernels/spinor/sp_hex.idl" -o "$dir/again"
for f in sp_hex.h sp_hex_stub.c sp_hex_skel.c; do
    cmp "$dir/$f" "$dir/again/$f"
done
printf 'interface bad {\n  long m(in long x\n};\n' >"$dir/bad.idl"
if "$build/bin/hexidl" "$dir/bad.idl" -o "$dir/none" 2>"$dir/err"; then
    echo "idl: a broken file compiled" >&2
    exit 1
fi
grep -q "bad.idl:3:1: unexpected '}'" "$dir/err" || { cat "$dir/err" >&2; exit 1; }
rmdir "$dir/none"
