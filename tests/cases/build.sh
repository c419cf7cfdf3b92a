#!/bin/sh
# What `make` would do again after a change: for other flags everything they reach, for a touched file its dependants and
# nothing else.  All by `make -n -W FILE`, so no file changes.  Usage: build.sh BUILD, with the flags that BUILD was built with.
set -eu
cd "$(dirname "$0")/../.."
build=${1#"$PWD"/} # as make was told: rules and what compilers wrote down for them name files by it
# the compiler that BUILD was built with, not another one that the environment names
CC=$(sed 's/ -.*//' "$build/obj/cc.flags")
export CC
major=$(sed 's/\..*//' tools/VERSION)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# plan NAME MAKE-ARGUMENT...: what would be done, into $dir/NAME.  Lines "CC file", "LINK name", ..., or "copy file".
plan() {
    name=$1
    shift
    make -n V= BUILD="$build" "$@" tests >"$dir/out" 2>"$dir/err" || { cat "$dir/err"; exit 1; }
    sed -n -e "s/^printf '  %-7s %s.n' \([A-Z]* .*\)/\1/p" -e 's/^ln -sf \([^ ]*\) .*/LN \1/p' \
        -e 's/^cp \([^ ]*\) .*/copy \1/p' -e "s/^sed 's.*' \([^ ]*\) >.*/copy \1/p" "$dir/out" | LC_ALL=C sort >"$dir/$name"
}

fail() {
    echo "build: $*"
    failed=1
}

same() { # same WHAT WANT HAVE
    diff "$dir/$2" "$dir/$3" >"$dir/diff" || { fail "$1"; head -n 20 "$dir/diff"; }
}

only() { # only KIND NAME: the lines of one kind
    grep "^$1 " "$dir/$2" || :
}

plan nothing
[ ! -s "$dir/nothing" ] || {
    echo "build: $build is not what these flags make, or not up to date:"
    head -n 5 "$dir/nothing"
    exit 1
}
plan all -B
[ "$(grep -c ^CC "$dir/all")" -gt 400 ] && [ "$(grep -c ^LINK "$dir/all")" -gt 100 ] || fail "the plan shows little"
grep '^\(CC\|IDL\|AR\|LINK\) ' "$dir/all" >"$dir/ours"

# flags: those of the compiler reach everything, those of the linker what is linked
case $($CC --version) in
*clang*) san= ;; # SAN= wants gcc
*) san=SAN=undefined ;;
esac
for flag in MARCH=x86-64-v2 OPT=-O1 CFLAGS=-DHX_OTHER $san; do
    plan new "$flag"
    grep '^\(CC\|IDL\|AR\|LINK\) ' "$dir/new" >"$dir/new2"
    # a static program has no sanitizer, nor what is preloaded into programs without one, nor skels of other levels of the optimiser
    [ "$flag" = "${flag#SAN}" ] || sed -e '/run_with_client-static/d;/hxt_fail\.so$/d;/hxt_stage\.so$/d;/hxt_clock\.so$/d;/hxt_late\.so$/d;/tests\/fail\//d' \
        -e "/ -O[0-3]'\$/d;/_O[0-3]_skel\.so\$/d;/_O[0-3]\.a\$/d" "$dir/ours" | uniq >"$dir/dynamic"
    same "after $flag" "$([ "$flag" = "${flag#SAN}" ] && echo ours || echo dynamic)" new2
done
plan new CC="env $CC"
grep '^\(CC\|IDL\|AR\|LINK\) ' "$dir/new" >"$dir/new2"
same "after CC=" ours new2
CC="env $CC" plan fromenv
same "CC from the environment is not CC= on the command line" new fromenv
plan new LDFLAGS=-Wl,-O1
only LINK all >"$dir/want"
only LINK new >"$dir/links"
same "after LDFLAGS=" want links
! grep -q '^CC' "$dir/new" || fail "LDFLAGS= compiles"
env -u MAKEFLAGS -u CC make -n -B V= BUILD="$build" "$build/obj/rpc/wire/hx_ring.o" | grep -q '^gcc .*hx_ring' ||
    fail "without CC= the compiler is not gcc"

# really: one object compiles, is then up to date, and compiles again for other flags, whatever their quotes
one() {
    make V= BUILD="$dir/one" "$@" "$dir/one/obj/rpc/wire/hx_ring.o" >"$dir/out" 2>&1 || { cat "$dir/out"; exit 1; }
    grep -c '^  CC ' "$dir/out" || :
}
[ "$(one)" = 1 ] && [ "$(one)" = 0 ] || fail "an object is not compiled just once"
[ "$(one "CFLAGS=-DA='\"b, c\"'")" = 1 ] && [ "$(one "CFLAGS=-DA='\"b, c\"'")" = 0 ] || fail "CFLAGS= with quotes"
[ -z "$san" ] || [ "$(one SAN=address,undefined)" = 1 ] || fail "SAN= does not compile"

last=
# touched FILE KIND WANT...: touching FILE makes of this kind just these
touched() {
    file=$1 kind=$2
    shift 2
    [ -f "$file" ] || { fail "no $file"; return; }
    [ "$file" = "$last" ] || plan new -W "$file"
    last=$file
    only "$kind" new >"$dir/have"
    for w in "$@"; do echo "$kind $w"; done | LC_ALL=C sort -u >"$dir/want"
    same "$kind after $file was touched" want have
}
users_of() { # users_of HEADER FOLDER...: the .c files there that include it themselves
    header=$1
    shift
    grep -rl --include='*.c' "^#include \"$header\"" "$@"
}

plan new -W Makefile
grep '^\(CC\|IDL\|AR\|LINK\) ' "$dir/new" >"$dir/new2"
same "after Makefile was touched" ours new2

touched tools/VERSION CC rpc/wire/hx_version.c
touched tools/VERSION IDL
touched tools/VERSION copy tools/*.cmake.in tools/*.pc.in
touched host/quant/table.c CC host/quant/table.c
touched host/quant/table.c AR libhxhost.a
touched tests/rpc/test_ring.c LINK test_ring
touched rpc/queue/hx_dspq_api.inc CC $(users_of hx_dspq_api.inc rpc dsp)
touched rpc/client/hx_notify.h CC $(users_of hx_notify.h rpc tests)
touched tests/oracle/gen.awk CC tests/dsp/test_hvx_int.c
touched tests/oracle_scalar/scalar-v69-intrinsics.txt CC tests/dsp/test_scalar_q6.c
touched tests/data/listing/sample.release.s CC tests/tools/test_listing.c
touched kernels/linear/hex_linear.idl IDL kernels/linear/hex_linear.idl
touched kernels/linear/hex_linear.idl AR libhxhex_layer.a libhxhex_linear.a libhxhost.a libhxstub.a
touched rpc/idl-include/remote.idl IDL $(ls kernels/*/*.idl rpc/reverse/*.idl tests/skel/*.idl)
touched host/api/libhexrig.map LINK "libhexrig.so.$major"
touched host/data/hexrig-tiny-q8_0.gguf copy host/data/hexrig-tiny-q8_0.gguf
touched dsp/include/qurt_futex.h copy dsp/include/qurt_futex.h
touched tools/hexrig.pc.in copy tools/hexrig.pc.in
touched rpc/client/libcdsprpc.map LN libcdsprpc.so "libhexrig.so.$major"
grep -q '^LINK libcdsprpc.so$' "$dir/new" || fail "libcdsprpc.map does not link libcdsprpc.so"

# every file is something's source: a compiler has read it, or a step names it
find "$build/obj" -name '*.d' -exec cat {} + | tr -s '\\ :' '\n' >"$dir/read"
sed 's/^[A-Z]* //; s/^copy //' "$dir/all" >>"$dir/read"
find rpc dsp fuse host kernels tools -name '*.[ch]' -o -path 'dsp/profiles/*' | LC_ALL=C sort >"$dir/files"
LC_ALL=C sort -u "$dir/read" | LC_ALL=C comm -13 - "$dir/files" >"$dir/idle"
while read -r f; do # by a program of its own, for a target that is not among the tests
    plan new -W "$f"
    [ -s "$dir/new" ] || fail "nothing depends on $f"
done <"$dir/idle"
# V=1 does it, too
make V=1 BUILD="$dir/shown" "$dir/shown/obj/rpc/wire/hx_aee.o" >"$dir/out" 2>&1 || { tail -n 3 "$dir/out"; fail "V=1 does not build"; }
grep -q ' -c rpc/wire/hx_aee.c ' "$dir/out" || fail "V=1 does not show the commands"
[ $failed = 0 ] || exit 1
echo "$(grep -c . "$dir/ours") steps"
