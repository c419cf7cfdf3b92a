#!/bin/sh
# The C API as a stranger finds it: `make install`, pkg-config, docs/examples/generate.c, and the output that docs/capi.md
# shows; hexrig.h in C++; the names that libhexrig.so exports.  Usage: capi.sh BUILD
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
command -v pkg-config >/dev/null || { echo "skip: no pkg-config"; exit 77; }
unset HEXRIG_DEVICE HEXRIG_LIBEXEC
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_RUNTIME_DIR="$dir"
make -s -C "$src" BUILD="$build" PREFIX="$dir/usr" install >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
export PKG_CONFIG_PATH="$dir/usr/lib/pkgconfig"
cd "$dir"

strict="-Wall -Wextra -Wshadow -Wstrict-prototypes -Werror"
${CC:-gcc} -std=c99 -pedantic $strict "$src/docs/examples/generate.c" $(pkg-config --cflags --libs hexrig) -o generate
./generate >out
cat out
# every line of it, one behind the other
awk 'NR == FNR { page = page $0 "\n"; next } { want = want $0 "\n" } END { exit !index(page, want) }' \
    "$src/docs/capi.md" out || { echo "docs/capi.md shows other output"; exit 1; }
[ "$(pkg-config --modversion hexrig)" = "$(cat "$src/tools/VERSION")" ]

# the blocks of the DSP through the installed rig: the text of hexrig run
sed 's/cfg.kv = "f32"; .*/cfg.kv = "spinor";/' "$src/docs/examples/generate.c" >spinor.c
${CC:-gcc} -std=c99 $strict spinor.c $(pkg-config --cflags --libs hexrig) -o spinor
./spinor | sed -n '1s/^The king was//p' >have
usr/bin/hexrig run -p "The king was" -n 16 --temp 0 | sed -n 1p >want
diff have want

if command -v "${CXX:-g++}" >/dev/null; then
    printf '#include <hexrig.h>\nint main() { return hexrig_version()[0] == 0; }\n' >v.cc
    ${CXX:-g++} -Wall -Wextra -Werror v.cc $(pkg-config --cflags --libs hexrig) -o v && ./v
fi

nm -D --defined-only usr/lib/libhexrig.so | awk '{ print $3 }' | LC_ALL=C sort >names
sed -n 's/.*\(hexrig_[a-z_]*\)(.*/\1/p' "$src/host/api/hexrig.h" | LC_ALL=C sort -u >declared
diff declared names || { echo "exported, but not declared, or the other way round"; exit 1; }
