#!/bin/sh
# Fetches the oracle's tools into DIR without installing anything: clang-19 and lld-19 from the machine's own Debian
# sources, qemu-user (>= 10) from the backports suite of the same mirror.  Usage: fetch.sh DIR.  Does nothing when done.
set -eu
dir=$(mkdir -p "$1" && cd "$1" && pwd)
exec 9>"$dir/lock"
flock 9 # two test cases may want the tools at once
[ -e "$dir/ok" ] && exit 0
command -v apt-get >/dev/null || { echo "fetch: skip: no apt-get here" >&2; exit 77; }
rm -rf "$dir/root" "$dir/debs"
mkdir -p "$dir/debs" "$dir/root" "$dir/state/lists/partial" "$dir/cache/archives/partial"

# The first Debian (not security) mirror that this machine uses.
mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT) $(CREATED_BY)' |
    awk '$2 == "bookworm" && $3 == "main" && $4 == "Packages" { print $1; exit }')
[ -n "$mirror" ] || { echo "fetch: skip: no bookworm mirror among the apt sources" >&2; exit 77; }
cat >"$dir/sources.list" <<EOF
deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm main
deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm-backports main
EOF
apt() {
    apt-get -qq -o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State::lists="$dir/state/lists" -o Dir::Cache="$dir/cache" \
        -o Acquire::Languages=none -o APT::Sandbox::User=root "$@"
}
apt update
cd "$dir/debs"
apt download clang-19 lld-19 libclang-common-19-dev libclang-cpp19 libllvm19 libclang1-19 \
    libedit2 libbsd0 libmd0 libxml2 libicu72 libz3-4 libzstd1 zlib1g liblzma5 libtinfo6 libffi8 libatomic1
apt download qemu-user/bookworm-backports
for deb in *.deb; do
    dpkg-deb -x "$deb" "$dir/root"
done
rm -rf "$dir/debs" "$dir/state" "$dir/cache"
: >"$dir/ok"
