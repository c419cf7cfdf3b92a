#!/bin/sh
# Packs the virtual machine's whole file system: busybox, two kernel modules, the rig and the conformance program.
#
#   initrd.sh RIG MODULES OUT      RIG: a build folder with `make vm-programs`; MODULES: holds fuse.ko and cuse.ko
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rig=$1 modules=$2 out=$3
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

put() { # put FILE FOLDER [NAME]
    mkdir -p "$root$2"
    cp -L "$1" "$root$2/${3:-$(basename "$1")}"
}

put "$(command -v busybox)" /bin
put "$here/init" "" init
for m in fuse cuse; do put "$modules/$m.ko" /modules; done
put "$rig/libexec/hexrig/hexrig-fuse-static" /rig/libexec/hexrig hexrig-fuse
put "$rig/libexec/hexrig/hexrig-dsp" /rig/libexec/hexrig
put "$rig/tests/conformance-static" /rig/tests
put "$rig/tests/libhxt_skel.so" /rig/tests
put "$rig/tests/test_placement" /rig/tests
for p in "$rig"/share/hexrig/profiles/*; do put "$p" /rig/share/hexrig/profiles; done
# the DSP loads skels, so it is linked dynamically: its loader and libraries where it expects them
ldd "$rig/libexec/hexrig/hexrig-dsp" "$rig/tests/libhxt_skel.so" "$rig/tests/test_placement" | grep -o '/[^ ]*\.so[^ ]*' | sort -u |
    while read -r lib; do
        case $lib in "$rig"/*) ;; *) put "${lib%:}" "$(dirname "$lib")" ;; esac
    done
chmod 755 "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$out"
