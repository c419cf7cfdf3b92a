#!/bin/sh
# make deb: a package that dpkg installs into an empty root, from which the programs run, and that leaves nothing when it is removed;
# with `lintian` that finds no error.  Usage: deb.sh BUILD [lintian]
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
for tool in dpkg-deb ${2:-}; do
    command -v $tool >/dev/null || { echo "skip: no $tool"; exit 77; }
done
export DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1 # what is compressed well takes longer
unset HEXRIG_DEVICE HEXRIG_LIBEXEC HEXRIG_FARF LD_LIBRARY_PATH
grep -qx "version: $(cat "$src/tools/VERSION")" "$src/docs/CITATION.cff"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_RUNTIME_DIR="$dir"
version=$(cat "$src/tools/VERSION")

make -s -C "$src" BUILD="$build" DESTDIR="$dir/stage" PREFIX=/usr install >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
deb=$("$src/tools/deb.sh" "$dir/stage" "$dir")
[ "$deb" = "$dir/hexrig_${version}_$(dpkg --print-architecture).deb" ]
dpkg-deb -f "$deb" >"$dir/control"
grep -qx "Version: $version" "$dir/control"
for package in libc6 libfuse3-3 libjansson4 libmicrohttpd12 libnuma1 fuse3; do
    grep -q "^Depends: .*$package" "$dir/control" || { cat "$dir/control"; echo "depends not on $package"; exit 1; }
done
dpkg-deb -c "$deb" | awk '$2 != "root/root" { print "not root'\''s: " $0; bad = 1 } END { exit bad }'
echo "ok $(dpkg-deb -c "$deb" | grep -c -v '/$') files"

if [ "$(id -u)" = 0 ]; then
    root=$dir/root
    mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info"
    : >"$root/var/lib/dpkg/status"
    dpkg_() { dpkg --root="$root" --force-depends --force-script-chrootless --log=/dev/null "$@" >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }; }
    dpkg_ -i "$deb"
    "$root/usr/bin/hexrig" --version | grep -qx "hexrig $version"
    "$root/usr/bin/hexrig" run -p "The king was" -n 4 | grep -q '^dispatch.calls=[1-9]'
    "$root/usr/bin/hexrig" doctor >"$dir/out" || { cat "$dir/out"; exit 1; }
    dpkg_ -P hexrig
    left=$(cd "$root" && find . ! -path './var/lib/dpkg*' ! -type d)
    [ -z "$left" ] || { echo "left: $left"; exit 1; }
    echo "ok installed, run, removed"
fi
[ "${2:-}" != lintian ] || {
    lintian --allow-root --fail-on error "$deb" >"$dir/out" 2>&1 || { grep '^E:' "$dir/out"; exit 1; }
    echo "ok lintian"
}
