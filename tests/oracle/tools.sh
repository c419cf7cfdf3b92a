# Sourced by run.sh and bench.sh: where the oracle's tools and outputs are, and how to call the compiler.
# shellcheck disable=SC2034,SC2154 # whoever sources it sets $here and uses the others
root=$here/../..

tools_dir() { # tools_dir BUILD
    mkdir -p "$1/oracle"
    dir=$(cd "$1/oracle" && pwd)
    tools=$dir/tools
    llvm=$tools/root/usr/lib/llvm-19
    qemu=$tools/root/usr/bin/qemu-hexagon
}

hexagon_cc() {
    LD_LIBRARY_PATH=$llvm/lib:$tools/root/usr/lib/x86_64-linux-gnu PATH=$llvm/bin:$PATH \
        clang --target=hexagon-unknown-linux-musl -O2 -mcpu=hexagonv69 -mhvx=v69 -mhvx-length=128b -ffreestanding \
        -fno-builtin -nostdlib -static -fuse-ld=lld -Wno-unused-command-line-argument "$@"
}
