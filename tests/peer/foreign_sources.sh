#!/bin/sh
# Other people's HVX sources, unchanged, are type-checked against the headers that are installed: every file that uses HVX, with functions
# that nobody has declared as errors.  Usage: foreign_sources.sh BUILD.  Exit: 0 all pass, 1 some do not, 77 there are no sources.
#
#   XNNPACK        all of src/**/*hvx*.c, by its own define (__hexagon__), for V69 and without anything that V69 does not have
#   htp-ops-lib    src/dsp/ops, for V73, which one of them asks for
#   nnlib          Hexagon NN, V65, with QuRT
#
# The sources: sources.sh.
set -u
build=$(cd "$1" && pwd)
. "$(dirname "$0")/sources.sh"
PKG_CONFIG_PATH=$build/lib/pkgconfig
export PKG_CONFIG_PATH
command -v pkg-config >/dev/null || { echo "skip: no pkg-config"; exit 77; }
flags="$(pkg-config --define-variable=trace= --cflags hexrig-skel) -w -Werror=implicit-function-declaration -include hexrig_toolchain.h"

fetch_sources XNNPACK google
fetch_sources pthreadpool google
fetch_sources htp-ops-lib haozixu
fetch_sources nnlib XiaoMi

failed=0
check() { # check NAME WANTED FLAGS: files from stdin, relative to the repository
    name=$1 wanted=$2 own=$3 passed=0
    while read -r f; do
        if (cd "$sources/$name" && ${CC:-gcc} $flags $own -fsyntax-only "$f") 2>"$build/foreign_sources.err"; then
            passed=$((passed + 1))
        else
            echo "$name: $f: $(grep -m 1 error "$build/foreign_sources.err")" >&2
        fi
    done
    echo "$name: $passed of $wanted files"
    [ $passed -eq "$wanted" ] || return 1
}

(cd "$sources/htp-ops-lib" && ls src/dsp/ops/*.c) |
    check htp-ops-lib 6 "-std=gnu11 -DHEXRIG_HVX_ARCH=73 -Iinclude -Iinclude/dsp" || failed=1
(cd "$sources/nnlib" && grep -rl HVX_Vector --include=*.c hexagon/ops/src hexagon/src) |
    check nnlib 71 "-std=gnu11 -DUSE_OS_QURT -D__hexagon__ -D__HEXAGON_ARCH__=65 -DHEXAGON_V65 -Ihexagon/include -Ihexagon/ops/include -Iinterface" ||
    failed=1
(cd "$sources/XNNPACK" && find src -name '*hvx*.c') |
    check XNNPACK 304 "-std=gnu11 -D__hexagon__ -I. -Isrc -Iinclude -I../pthreadpool/include" || failed=1
exit $failed
