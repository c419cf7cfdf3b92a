#!/bin/sh
# Compiles the tests for 64-bit Arm, or what is named.  Usage: build.sh DIR [FILE...], each FILE below DIR/rig.  DIR/rig is the build,
# DIR/cc the compiler, DIR/run runs a program; the tools come from this machine's own Debian mirror into DIR/tools, nothing is installed.
# Exit 77 and a reason without tools.
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
root=$dir/tools/root

"$src/tests/aarch64/fetch.sh" "$dir/tools" >"$dir/fetch.log" 2>&1 || {
    echo "aarch64: skip: cannot fetch the cross compiler: $(tail -n 1 "$dir/fetch.log")"
    exit 77
}
cat >"$dir/cc" <<EOF
#!/bin/sh
LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu exec $root/usr/bin/aarch64-linux-gnu-gcc-12 --sysroot=$root \\
    -isystem $root/usr/include -L$root/usr/lib/aarch64-linux-gnu -L$root/lib/aarch64-linux-gnu "\$@"
EOF
libs=$root/usr/aarch64-linux-gnu/lib:$root/usr/lib/aarch64-linux-gnu:$root/lib/aarch64-linux-gnu
cat >"$dir/run" <<EOF
#!/bin/sh
exec $root/usr/bin/qemu-aarch64-static -L $root/usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=$libs "\$@"
EOF
chmod +x "$dir/cc" "$dir/run"
for file in "$@"; do
    set -- "$@" "$dir/rig/$file"
    shift
done
# gcc 12 for Arm ends with an internal error when it vectorises tests/kernels/check_spinor.c
env -u MAKEFLAGS -u MFLAGS make -s -j2 -C "$src" BUILD="$dir/rig" CC="$dir/cc" MARCH=armv8-a SAN= RUN="$dir/run" \
    OPT="-O2 -fno-tree-vectorize" "${@:-tests}" >"$dir/make.log" 2>&1 || {
    cat "$dir/make.log"
    exit 1
}
echo "compiled"
