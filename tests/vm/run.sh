#!/bin/sh
# The driver as a real character device: boots a Debian kernel with the CUSE module in qemu (no KVM) and runs the conformance
# program there.  Prints its lines.  Exit status: 0 passed, 77 skipped with a reason, else failed.
#
#   tests/vm/run.sh [BUILD]      VM_SECONDS (300): limit for the machine; VM_KERNEL: package to take instead of the newest
#
# Installs qemu, busybox and cpio by apt-get when they are missing; the kernel is fetched into BUILD/vm, not installed.
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "${1:-$src/build}/vm"
vm=$(cd "${1:-$src/build}/vm" && pwd)
limit=${VM_SECONDS:-300}

skip() {
    echo "check-vm: skip: $*"
    exit 77
}

[ "$(uname -m)" = x86_64 ] || skip "the machine is $(uname -m), the kernel package is for x86_64"
command -v apt-get >/dev/null || skip "no apt-get, so no kernel package"

# --- tools
need=
command -v qemu-system-x86_64 >/dev/null || need="$need qemu-system-x86 seabios"
command -v cpio >/dev/null || need="$need cpio"
dpkg-query -W -f '${db:Status-Status}\n' busybox-static 2>/dev/null | grep -qx installed || need="$need busybox-static"
if [ -n "$need" ]; then
    sudo=
    [ "$(id -u)" = 0 ] || sudo="sudo -n"
    echo "check-vm: installing$need" >&2
    { $sudo apt-get update -q && $sudo env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends $need; } >"$vm/apt.log" 2>&1 ||
        skip "cannot install$need: $(tail -n 1 "$vm/apt.log")"
fi

# --- kernel: the newest of the release's, its image and two modules
kernel=${VM_KERNEL:-$(apt-cache search --names-only '^linux-image-6\.1\.0-[0-9]+-cloud-amd64$' | cut -d' ' -f1 |
    sort -V | tail -n 1)}
[ -n "$kernel" ] || skip "apt-cache knows no linux-image-6.1.0-*-cloud-amd64"
k=$vm/$kernel
if [ ! -f "$k/cuse.ko" ]; then
    rm -rf "$k" "$vm/deb"
    mkdir -p "$vm/deb" "$k"
    (cd "$vm/deb" && apt-get download -q "$kernel") >"$vm/apt.log" 2>&1 ||
        skip "cannot download $kernel: $(tail -n 1 "$vm/apt.log")"
    dpkg-deb --fsys-tarfile "$vm"/deb/*.deb |
        tar -x -C "$vm/deb" --wildcards './boot/vmlinuz-*' '*/fs/fuse/fuse.ko*' '*/fs/fuse/cuse.ko*'
    find "$vm/deb" -name '*.ko.xz' -exec xz -d {} +
    find "$vm/deb" -name fuse.ko -exec cp {} "$k/" \;
    cp "$vm"/deb/boot/vmlinuz-* "$k/vmlinuz"
    find "$vm/deb" -name cuse.ko -exec cp {} "$k/" \;
    rm -rf "$vm/deb"
fi

# --- programs for any x86-64: the virtual processor is not this machine's
env -u MAKEFLAGS -u MFLAGS make -s -j2 -C "$src" BUILD="$vm/rig" MARCH=x86-64 SAN= vm-programs >"$vm/make.log" 2>&1 || {
    cat "$vm/make.log"
    exit 1
}
"$src/tests/vm/initrd.sh" "$vm/rig" "$k" "$vm/initrd.gz"

# two NUMA nodes, for tests/dsp/test_placement.c
nodes="-object memory-backend-ram,id=m0,size=256M -object memory-backend-ram,id=m1,size=256M
    -numa node,cpus=0,memdev=m0 -numa node,cpus=1,memdev=m1"
timeout -k 5 "$limit" qemu-system-x86_64 -accel tcg -m 512 -smp 2 $nodes -nographic -no-reboot -nic none \
    -kernel "$k/vmlinuz" -initrd "$vm/initrd.gz" -append "console=ttyS0 quiet panic=-1" \
    </dev/null >"$vm/console.raw" 2>&1 || echo "check-vm: qemu ended with status $?, limit $limit s"
tr -d '\r' <"$vm/console.raw" | grep -a '^\(ok\|no\|FAIL\|conformance\|vm:\) ' || true
tr -d '\r' <"$vm/console.raw" >"$vm/console.log"
! grep -q '^vm: left behind' "$vm/console.log" &&
    grep -qx 'conformance cuse \([0-9]*\)/\1\(, [0-9]* not on this front end\)*' "$vm/console.log" && grep -q '^vm: second rig: ok' "$vm/console.log" &&
    grep -qx 'vm: placement on two NUMA nodes: exit status 0' "$vm/console.log" || {
    echo "check-vm: failed; the machine's console:"
    tail -n 40 "$vm/console.log" | sed 's/^/      /'
    exit 1
}
