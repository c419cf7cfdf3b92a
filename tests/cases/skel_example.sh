#!/bin/sh
# The example of docs/skel.md builds without a warning, runs on the rig, and prints what the page says.
# Usage: skel_example.sh BUILD
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
command -v pkg-config >/dev/null || { echo "skip: no pkg-config"; exit 77; }
export PKG_CONFIG_PATH="$build/lib/pkgconfig"
unset HEXRIG_DEVICE HEXRIG_FARF DSP_LIBRARY_PATH ADSP_LIBRARY_PATH
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export XDG_RUNTIME_DIR="$dir"

# The fenced block whose opening line ends in NAME.
block() {
    awk -v name="$1" '/^```/ { on = !on && $NF == name && NF > 1; next } on' "$src/docs/skel.md"
}
block vadd_skel.c >vadd_skel.c
block vadd.c >vadd.c
block build | sed 's/^gcc /gcc -Wall -Wextra -Werror /' >build.sh
[ -s vadd_skel.c ] && [ -s vadd.c ] && [ -s build.sh ]
sh -eu build.sh >out 2>err || { cat out err; exit 1; }
cat out err
grep -qxF "$(cat out)" "$src/docs/skel.md" || { echo "the page shows other output than: $(cat out)"; exit 1; }
grep -q 'HIGH: vadd_skel.c:[0-9]*: vadd: 512 bytes' err || { echo "no FARF message"; exit 1; }

# A skel is found by the other variable too, and without either it is not.
ADSP_LIBRARY_PATH=/nonexistent\;$dir LD_LIBRARY_PATH=$build/lib ./vadd >out2
cmp out out2
if LD_LIBRARY_PATH=$build/lib ./vadd >out2 2>err2; then
    echo "found a skel that is on no path"
    exit 1
fi
grep -q 'rc=0x80000406' out2 || { cat out2; exit 1; }

# An entry point is one of the library that the URI names, not of what that is linked with.
echo 'int nothing_of_its_own;' | gcc -shared -fPIC -x c - -Wl,-Ttext-segment=0x1d000000 -Wl,--no-as-needed,-rpath,"$dir" \
    -x none ./libvadd_skel.so -o libborrow_skel.so
sed 's/libvadd_skel/libborrow_skel/' vadd.c >borrow.c
gcc -O2 borrow.c $(pkg-config --cflags --libs hexrig-rpc) -o borrow
if DSP_LIBRARY_PATH=. LD_LIBRARY_PATH=$build/lib ./borrow >out3 2>err3; then
    echo "an entry point of another library was called"
    exit 1
fi
grep -q 'rc=0x80000442' out3 || { cat out3 err3; exit 1; }

# A kernel of one's own gets a table and is charged by it, as the page says.
clang-19 --print-targets 2>/dev/null | grep -q '^ *hexagon ' || { echo "skip: no clang-19 for Hexagon"; exit 77; }
block add.c >add.c
block cost >cost.sh
[ -s add.c ] && [ -s cost.sh ]
PATH=$build/bin:$PATH LD_LIBRARY_PATH=$build/lib sh -eu cost.sh >cost.out 2>cost.err || { cat cost.out cost.err; exit 1; }
grep -qx 'add.listing.h: written' cost.err && grep -qx 'add.listing.h: current' cost.err || { cat cost.err; exit 1; }
grep -qx 'rc=0 sum\[3\]=700 sum\[163\]=32700' cost.out
# its packets: what stands before the loop, four trips of one vector add and one store each, at a context cycle of 4
pcycles=$(sed -n 's/.*"name": "add".*"pcycles": \([0-9]*\), "stall_pcycles": \([0-9]*\).*/\1 - \2/p' cost.out)
# shellcheck disable=SC2004 # its value is an expression
[ "$(($pcycles))" -ge 16 ] && [ "$(($pcycles))" -le 200 ] || { echo "add took $pcycles"; cat cost.out; exit 1; }
