#!/bin/sh
# Fetches a cross compiler, Arm libraries and qemu-user from this machine's Debian sources into DIR, without installing
# anything.  Usage: fetch.sh DIR.  Does nothing when done since this script was changed.
set -eu
dir=$(mkdir -p "$1" && cd "$1" && pwd)
[ "$dir/ok" -nt "$0" ] && exit 0
[ "$(uname -m)" = x86_64 ] || { echo "the machine is $(uname -m), the packages are for x86_64"; exit 77; }
command -v apt-get >/dev/null || { echo "no apt-get here"; exit 77; }
mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT) $(CREATED_BY)' |
    awk '$2 == "bookworm" && $3 == "main" && $4 == "Packages" { print $1; exit }')
[ -n "$mirror" ] || { echo "no bookworm mirror among the apt sources"; exit 77; }
rm -rf "$dir/root" "$dir/debs"
mkdir -p "$dir/debs" "$dir/root" "$dir/state/lists/partial" "$dir/cache/archives/partial"
echo "deb [arch=amd64,arm64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm main" \
    >"$dir/sources.list"
apt() {
    apt-get -qq -o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State::lists="$dir/state/lists" -o Dir::Cache="$dir/cache" -o Acquire::Languages=none \
        -o APT::Sandbox::User=root -o APT::Architectures::=amd64 -o APT::Architectures::=arm64 "$@"
}
apt update
cd "$dir/debs"
apt download binutils-aarch64-linux-gnu gcc-12-aarch64-linux-gnu cpp-12-aarch64-linux-gnu libgcc-12-dev-arm64-cross \
    libgcc-s1-arm64-cross libc6-arm64-cross libc6-dev-arm64-cross linux-libc-dev-arm64-cross libatomic1-arm64-cross \
    qemu-user-static libmpc3 libmpfr6 libisl23 libgmp10 \
    libcmocka-dev:arm64 libcmocka0:arm64 libnuma-dev:arm64 libnuma1:arm64 libjansson-dev:arm64 libjansson4:arm64 libfuse3-dev:arm64 libfuse3-3:arm64 \
    libmicrohttpd-dev:arm64 libmicrohttpd12:arm64 libgnutls30:arm64 libp11-kit0:arm64 libidn2-0:arm64 libunistring2:arm64 \
    libstdc++6:arm64 libtasn1-6:arm64 libnettle8:arm64 libhogweed6:arm64 libgmp10:arm64 libffi8:arm64
for deb in *.deb; do
    dpkg-deb -x "$deb" "$dir/root"
done
rm -rf "$dir/debs" "$dir/state" "$dir/cache"
: >"$dir/ok"
