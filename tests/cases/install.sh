#!/bin/sh
# `make install` with DESTDIR: the files that it names and no others; public headers that need nothing else; a FastRPC client, a
# skel and a C program by pkg-config against it, and they run; `make uninstall` leaves nothing.  Usage: install.sh BUILD
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
command -v pkg-config >/dev/null || { echo "skip: no pkg-config"; exit 77; }
unset HEXRIG_DEVICE HEXRIG_LIBEXEC HEXRIG_FARF DSP_LIBRARY_PATH ADSP_LIBRARY_PATH LD_LIBRARY_PATH
cc=${CC:-gcc}
dir=$(mktemp -d)
stale=$build/include/hexrig/no_header_of_ours.h
trap 'rm -rf "$dir" "$stale"' EXIT
export XDG_RUNTIME_DIR="$dir"
usr=$dir/stage/opt/rig
export PKG_CONFIG_PATH="$usr/lib/pkgconfig"
major=$(sed 's/\..*//' "$src/tools/VERSION")

make_() { # quietly, with its output when it fails
    make -s -C "$src" BUILD="$build" DESTDIR="$dir/stage" PREFIX=/opt/rig "$1" >"$dir/log" 2>&1 ||
        { cat "$dir/log"; exit 1; }
}
names() { # names DIR SUFFIX FILE...: the files as they lie in DIR
    in=$1
    shift
    for f in "$@"; do echo "$in/${f##*/}"; done
}

# --- what is there.  Two programs need what not every machine has.
: >"$stale"
make_ install
(cd "$dir/stage" && find . ! -type d | sed 's|^\./opt/rig/||' | grep -v '^libexec/hexrig/\(crt-digest\|hexrig-mpi.so\)$' | LC_ALL=C sort) >"$dir/have"
{
    names bin hexrig hexidl
    names libexec/hexrig hexrig-crash hexrig-fuse hexrig-dsp hexagon-clang libno_trace.a
    names lib libcdsprpc.so libcdsprpc.so.1 libhexrig.so "libhexrig.so.$major" libhexrig-preload.so
    for idl in "$src"/kernels/*/*.idl; do echo "lib/lib$(basename "$idl" .idl)_skel.so"; done
    names lib/pkgconfig hexrig.pc hexrig-rpc.pc hexrig-skel.pc
    names lib/cmake/hexrig hexrig-config.cmake hexrig-config-version.cmake
    names include hexrig.h
    names include/hexrig "$src"/rpc/include/*.h "$src"/dsp/include/*.h "$src"/dsp/include/hexrig/*.h adspmsgd_apps.h apps_mem.h apps_std.h
    names share/hexrig "$src"/host/data/*.gguf "$src"/host/data/*.cal books-holdout.txt topics.txt
    names share/hexrig/llama "$src"/tools/llama/*
    names share/hexrig/idl "$src"/rpc/idl-include/*.idl
    names share/hexrig/profiles "$src"/dsp/profiles/*
    names share/hexrig/libc "$src"/dsp/libc/*.h
    names share/hexrig/libc/sys "$src"/dsp/libc/sys/*.h
    (cd "$src/tools/sdk" && find . -type f ! -name '*.c' | sed 's|^\.|share/hexrig/sdk|')
    names share/hexrig/sdk incs
    for in in utils/examples ipc/fastrpc/incs ipc/fastrpc/rpcmem/inc libs/worker_pool/inc; do echo "share/hexrig/sdk/$in"; done
    for arch in 68 69 73 75 79 81; do echo "share/hexrig/sdk/rtos/qurt/computev$arch/include/qurt"; done
    names share/hexrig/sdk/tools/Tools/bin hexagon-clang hexagon-clang++
    for tool in ranlib nm strip objdump objcopy readelf; do names share/hexrig/sdk/tools/Tools/bin hexagon-$tool; done
    names share/man/man1 hexidl.1 hexrig.1 $("$build/bin/hexrig" --help | sed -n 's/^  \([a-z][a-z-]*\) .*/hexrig-\1.1/p')
    names share/bash-completion/completions hexrig
} | LC_ALL=C sort >"$dir/want"
diff "$dir/want" "$dir/have" || { echo "< is missing, > is nobody's"; exit 1; }
soname() {
    readelf -d "$usr/lib/$1" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p'
}
[ "$(soname libhexrig.so)" = "libhexrig.so.$major" ] && [ "$(soname libcdsprpc.so)" = libcdsprpc.so ]
[ -h "$usr/lib/libhexrig.so" ] && [ -h "$usr/lib/libcdsprpc.so.1" ]

# --- each header alone, with the flags that its users have
flags="-Wall -Wextra -Werror -fsyntax-only -x c /dev/null"
for h in "$usr"/include/hexrig/*.h; do
    $cc -std=gnu11 $(pkg-config --cflags hexrig-skel) -include "$h" $flags
done
for h in "$src"/rpc/include/*.h; do
    $cc -std=gnu11 $(pkg-config --cflags hexrig-rpc) -include "${h##*/}" $flags
done
$cc -std=c99 -pedantic $(pkg-config --cflags hexrig) -include hexrig.h $flags

# --- programs
cd "$dir"
block() { # block PAGE NAME: the fenced block of the page whose opening line ends in NAME
    awk -v name="$2" '/^```/ { on = !on && $NF == name && NF > 1; next } on' "$src/docs/$1.md"
}
block rpc client.c >client.c
block rpc build | sed "s/^gcc /$cc -Wall -Wextra -Werror /" >client.sh
block skel vadd_skel.c >vadd_skel.c
block skel vadd.c >vadd.c
[ -s client.c ] && [ -s client.sh ] && [ -s vadd_skel.c ] && [ -s vadd.c ]
sh -eu client.sh
$cc -O2 $(pkg-config --cflags hexrig-skel) vadd_skel.c $(pkg-config --libs hexrig-skel) -o libvadd_skel.so
$cc -O2 vadd.c $(pkg-config --cflags --libs hexrig-rpc) -o vadd
[ "$(DSP_LIBRARY_PATH=. ./vadd)" = "rc=0 sum[3]=700 sum[163]=32700" ]
$cc -O2 "$src/docs/examples/generate.c" $(pkg-config --cflags --libs hexrig) -o generate
./generate | grep -q '^The king was '
readelf -d generate | grep -q "NEEDED.*libhexrig.so.$major"
"$usr/bin/hexrig" --version | grep -qx "hexrig $(cat "$src/tools/VERSION")"
sdk=$usr/share/hexrig/sdk
[ -f "$sdk/incs/remote.h" ] && [ -f "$sdk/rtos/qurt/computev69/include/qurt/qurt.h" ]
"$sdk/tools/Tools/bin/hexagon-clang" -mv69 -shared vadd_skel.c -o libvadd_skel.so
[ "$(DSP_LIBRARY_PATH=. ./vadd)" = "rc=0 sum[3]=700 sum[163]=32700" ]
"$usr/bin/hexidl" "$src/kernels/linear/hex_linear.idl" -o "$dir"
cd "$src"

# --- and it goes, but for what is somebody else's
: >"$usr/share/hexrig/mine"
make_ uninstall
[ "$(find "$dir/stage" ! -type d)" = "$usr/share/hexrig/mine" ] || { find "$dir/stage" ! -type d; exit 1; }
rm "$usr/share/hexrig/mine"
make_ uninstall
left=$(find "$usr" -mindepth 1)
[ -z "$left" ] || { echo "left: $left"; exit 1; }
make_ uninstall # again: there is nothing to do
rm -r "$dir/stage"
make_ uninstall # not even a folder
# without DESTDIR the prefix's folders are everybody's, also when they are empty
mkdir -p "$dir/own/bin" "$dir/own/lib/pkgconfig" "$dir/own/share/hexrig/idl"
make -s -C "$src" BUILD="$build" PREFIX="$dir/own" uninstall >/dev/null
left=$(cd "$dir/own" && find . -mindepth 1 | LC_ALL=C sort | paste -sd' ')
[ "$left" = "./bin ./lib ./share" ] || { echo "left without DESTDIR: $left"; exit 1; }
echo "$(wc -l <"$dir/have") files"
