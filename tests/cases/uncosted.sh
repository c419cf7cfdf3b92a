#!/bin/sh
# Kernels written from docs/skel.md, with the flags of pkg-config and without a listing, get figures within 25 % of the same
# with one; the rig says which of them were estimated, and which code of a skel without the trace flags was free.
# Usage: uncosted.sh BUILD
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
here=$src/tests/oracle
. "$here/tools.sh"
command -v pkg-config >/dev/null || { echo "skip: no pkg-config"; exit 77; }
export PKG_CONFIG_PATH="$build/lib/pkgconfig"
unset HEXRIG_DEVICE HEXRIG_FARF DSP_LIBRARY_PATH ADSP_LIBRARY_PATH
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp "$src/tests/skel/plain_skel.c" "$src/tests/skel/plain_client.c" "$dir"
cd "$dir"
export XDG_RUNTIME_DIR="$dir"
gcc -O2 plain_client.c $(pkg-config --cflags --libs hexrig-rpc) -lm -o client

run() { # run FOLDER FLAGS...: figures in FOLDER/out, the log in FOLDER/err
    folder=$1
    shift
    gcc -march=native -Wall -Wextra -Werror "$@" plain_skel.c $(pkg-config --libs hexrig-skel) -o "$folder/libplain_skel.so"
    DSP_LIBRARY_PATH=$folder ./client >"$folder/out" 2>"$folder/err" || { cat "$folder/out" "$folder/err"; exit 1; }
}

# figure FOLDER NAME
figure() { sed -n "s/^$2 //p" "$1/out"; }

fail() { echo "$*" >&2; for f in */out */err; do echo "-- $f"; cat "$f"; done >&2; exit 1; }

# Without the trace flags: memcpy and scalar code are free, and the rig says so, once.
mkdir untraced plain
run untraced -O2 $(pkg-config --define-variable=trace= --cflags hexrig-skel)
grep -q "^session=.* name=libplain_skel.so .*reason=built without the trace flags" untraced/out || fail "nothing is said of untraced code"
[ "$(grep -c "uncosted: libplain_skel.so: built without the trace flags" untraced/err)" = 1 ] || fail "not said once"
[ "$(figure untraced scalar_copy)" -lt 1000 ] || fail "scalar code without trace has a price"

# With them everything has one, and what is an estimate is named.
run plain -O2 $(pkg-config --cflags hexrig-skel)
for f in scalar_copy scalar_softmax hvx_exp; do
    grep -q "^session=.* name=libplain_skel.so:$f pcycles=[1-9].*reason=no listing" plain/out || fail "$f is not named"
    [ "$(grep -c "uncosted: libplain_skel.so:$f: no listing" plain/err)" = 1 ] || fail "$f: not said once"
done
for f in hvx_copy scalar_copy memcpy scalar_softmax hvx_softmax; do
    [ "$(figure plain $f)" -gt 100000 ] || fail "$f has no price"
done
cp plain/out first
run plain -O2 $(pkg-config --cflags hexrig-skel)
for f in hvx_copy scalar_copy memcpy scalar_softmax hvx_softmax; do
    grep -qx "$f $(figure plain $f)" first || fail "$f: another figure the second time"
done

# The same with a listing.
command -v clang-19 >/dev/null && clang-19 --print-targets | grep -q '^ *hexagon ' || { echo "estimates are named; not compared: no clang-19 for Hexagon"; exit 0; }
"$build/bin/hexrig" listing -q -D LISTED plain_skel.c
mkdir listed
run listed -O2 -DLISTED -I. $(pkg-config --cflags hexrig-skel)
! grep -q "name=libplain_skel.so:.*reason=no listing" listed/out || fail "listed code is called an estimate"
for f in hvx_copy scalar_copy memcpy scalar_softmax hvx_softmax; do
    awk -v name=$f -v a="$(figure plain $f)" -v b="$(figure listed $f)" 'BEGIN {
        printf "%-14s estimated %9d listed %9d ratio %.3f\n", name, a, b, a / b
        exit !(a / b > 0.8 && a / b < 1.25)
    }' || fail "$f: more than 25 % off"
done
