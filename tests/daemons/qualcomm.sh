#!/bin/sh
# Qualcomm's own library and daemon, unmodified, on the rig: a client of the library whose skel reads files of the host by the library's
# listener, one whose skel's messages the library collects; cdsprpcd, which needs that library's insides.  Usage: qualcomm.sh BUILD.  FASTRPC_GIT: where the sources are.
. "$(dirname "$0")/real.sh"
sources fastrpc "${FASTRPC_GIT:-https://github.com/qualcomm/fastrpc}" 29851fde11d4e2a4ce221536485d0f7d46ffca30
cc=${CC:-gcc}
lib=$real/lib

compiles() { # a program from stdin
    # shellcheck disable=SC2086 # words
    $cc ${CPPFLAGS:-} -x c - -fsyntax-only 2>"$dir/cc"
}
echo '#include <yaml.h>' | compiles || skip "no libyaml-dev"
echo '#include <bsd/string.h>' | compiles || skip "no libbsd-dev"

# what its src/Makefile.am has for libcdsprpc, libcdsp_default_listener and cdsprpcd; no libtool is needed for that
flags="-fPIC -O1 -w -fno-short-enums -DARM_ARCH_7A -DLE_ENABLE -DENABLE_UPSTREAM_DRIVER_INTERFACE -DUSE_SYSLOG -DPARSE_YAML
       -DDEFAULT_DOMAIN_ID=3 -I../inc -include bsd/string.h"
build_it() {
    cd "$real/src" && mkdir -p "$lib"
    for f in ./*.c dspqueue/*.c; do
        case $f in
        ./adsp_default_listener* | ./dsprpcd.c) continue ;;
        esac
        # shellcheck disable=SC2086 # words
        $cc $flags ${CPPFLAGS:-} '-DCONFIG_BASE_DIR="/usr/share/qcom/"' '-DMACHINE_NAME_PATH="/sys/firmware/devicetree/base/model"' \
            '-DDEFAULT_DSP_SEARCH_PATHS=";/usr/lib/rfsa/adsp;/usr/lib/dsp;"' -c "$f" -o "$lib/$(basename "$f" .c).o"
    done
    # shellcheck disable=SC2086
    $cc -shared -o "$lib/libcdsprpc.so" "$lib"/*.o -Wl,-soname,libcdsprpc.so ${LDFLAGS:-} \
        -lbsd -lyaml -ldl -lm -lpthread
    # shellcheck disable=SC2086
    $cc $flags ${CPPFLAGS:-} -shared -o "$lib/libcdsp_default_listener.so" adsp_default_listener*.c \
        -L"$lib" -lcdsprpc ${LDFLAGS:-} -lbsd
    # shellcheck disable=SC2086
    $cc $flags ${CPPFLAGS:-} -DUSE_CDSP dsprpcd.c -o "$lib/cdsprpcd" ${LDFLAGS:-} -lbsd -ldl
}
[ -x "$lib/cdsprpcd" ] || (build_it) >"$dir/out" 2>&1 || fail "the library does not build"

client() { # client NAME: of the library, from NAME.c here
    # shellcheck disable=SC2086
    $cc -I"$src/rpc/include" -I"$build/gen" "$src/tests/daemons/$1.c" "$build/gen/hxt_host_stub.c" -o "$dir/$1" \
        -L"$lib" -lcdsprpc -Wl,-rpath,"$lib" ${LDFLAGS:-}
}
client library_client
client farf_client
mkdir "$dir/files"
echo "served by the host" >"$dir/files/words.txt"
export DSP_LIBRARY_PATH="$build/tests;$dir/files"
timeout 60 "$hexrig" run-with -- "$dir/library_client" words.txt "$dir/files" >"$dir/out" 2>&1 || fail "the library's client: exit $?"
echo "ok   a skel reads, lists and maps by the library's listener"
# what a phone's user does: the mask by NAME.farf, and a file for the DSP's messages
echo 0x1f >"$dir/files/farf_client.farf"
printf 'collectRuntimeFARF=%s=\n' "$dir/messages" >"$dir/files/farf_client.debugconfig"
timeout 60 "$hexrig" run-with -- "$dir/farf_client" >"$dir/out" 2>&1 || fail "farf_client: exit $?"
for text in always run-time; do
    n=$(grep -cE "^hxt_host_imp\.c:[0-9]+:0x[0-9a-f]+:1: $text from the skel\$" "$dir/messages") || :
    [ "$n" -gt 10 ] || fail "$n of 40 messages reached the library: $text"
done
echo "ok   the library collects a skel's messages"
for how in "rootpd cdsp" ""; do
    # shellcheck disable=SC2086
    stays env LD_LIBRARY_PATH="$lib" "$lib/cdsprpcd" $how
done
