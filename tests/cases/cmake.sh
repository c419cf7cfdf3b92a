#!/bin/sh
# find_package(hexrig): the CMakeLists.txt of docs/skel.md builds that page's skel and client, an interface by hexidl and a user of the C API
# build, too, and they run; a version that is not this one's is refused.  Usage: cmake.sh BUILD
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
command -v cmake >/dev/null || { echo "skip: no cmake: apt-get install cmake"; exit 77; }
unset HEXRIG_DEVICE HEXRIG_LIBEXEC HEXRIG_FARF DSP_LIBRARY_PATH ADSP_LIBRARY_PATH LD_LIBRARY_PATH PKG_CONFIG_PATH
CC=${CC:-gcc}
CC=${CC##*ccache }
export CC
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_RUNTIME_DIR="$dir"
cd "$dir"

block() { # block NAME: the fenced block of the page whose opening line ends in NAME
    awk -v name="$1" '/^```/ { on = !on && $NF == name && NF > 1; next } on' "$src/docs/skel.md"
}
for file in CMakeLists.txt vadd_skel.c vadd.c; do
    block $file >$file
    [ -s $file ] || { echo "docs/skel.md has no $file"; exit 1; }
done
cat >>CMakeLists.txt <<END
hexrig_idl($src/tests/skel/hxt_deep.idl)
file(GLOB stub \${CMAKE_CURRENT_BINARY_DIR}/hxt_deep_stub.c)
add_library(stub STATIC \${stub})
target_link_libraries(stub hexrig::rpc)
add_executable(generate $src/docs/examples/generate.c)
target_link_libraries(generate hexrig::hexrig)
END
configure() { cmake -S . -B out -DCMAKE_PREFIX_PATH="$build" -DCMAKE_BUILD_TYPE=Release >log 2>&1; }
configure && cmake --build out >>log 2>&1 || { cat log; exit 1; }
[ "$(DSP_LIBRARY_PATH=out out/vadd)" = "rc=0 sum[3]=700 sum[163]=32700" ]
out/generate | grep -q '^The king was '
echo "ok skel, client, interface and C API"

for version in 0.9 1.0 "$(cat "$src/tools/VERSION") EXACT"; do
    sed -i "s/^find_package(hexrig.*/find_package(hexrig $version REQUIRED)/" CMakeLists.txt
    rm -rf out
    rc=0
    configure || rc=$?
    case $version in
    *EXACT) [ $rc = 0 ] || { cat log; exit 1; } ;;
    *) [ $rc != 0 ] && grep -q 'hexrig-config.cmake, version' log || { echo "version $version is taken"; exit 1; } ;;
    esac
done
echo "ok versions"
