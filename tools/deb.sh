#!/bin/sh
# make deb: a Debian package of what `make install DESTDIR=STAGE PREFIX=/usr` put there, without debhelper.
# Usage: tools/deb.sh STAGE OUT-DIR
#
# One package, for whoever uses hexrig and whoever builds against it.  It depends on the packages that own the libraries its programs
# are linked with, in the versions that are installed here, and on fuse3 for fusermount3.
set -eu
src=$(cd "$(dirname "$0")/.." && pwd)
stage=$(cd "$1" && pwd)
out=$(cd "$2" && pwd)
for tool in dpkg-deb dpkg-query ldconfig; do
    PATH=$PATH:/sbin:/usr/sbin command -v $tool >/dev/null || { echo "deb: no $tool: packages are made on Debian and its like" >&2; exit 1; }
done
PATH=$PATH:/sbin:/usr/sbin
version=$(cat "$src/tools/VERSION")
arch=$(dpkg --print-architecture)
maintainer="${DEBFULLNAME:-The hexrig authors} <${DEBEMAIL:-hexrig@localhost.localdomain}>"
umask 022
chmod 755 "$stage"

doc=$stage/usr/share/doc/hexrig
mkdir -p "$doc" "$stage/DEBIAN" "$stage/usr/share/lintian/overrides"
cp -R "$src/docs/examples" "$doc/"
cp "$src"/docs/*.md "$src/README.md" "$src/docs/CITATION.cff" "$doc/"
{
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: hexrig\n\nFiles: *\n'
    sed -n 's/^Copyright (c) /Copyright: /p' "$src/LICENSE"
    printf 'License: Expat\n'
    sed '1,/^Copyright/d; /./!d' "$src/LICENSE" | sed 's/^/ /'
    printf '\nFiles: usr/share/hexrig/*.gguf usr/share/hexrig/*.cal\nCopyright: none\nLicense: CC0-1.0\n'
    printf " On Debian systems the text of CC0 is in /usr/share/common-licenses/CC0-1.0.\n"
} >"$doc/copyright"
{
    echo "hexrig ($version) unstable; urgency=medium"
    printf '\n  * What changed for users is in changelog.md.\n\n'
    echo " -- $maintainer  $(date -R -u -d "@${SOURCE_DATE_EPOCH:-$(stat -c %Y "$src/tools/VERSION")}")"
} | gzip -9n >"$doc/changelog.gz"
find "$stage/usr/share/man" -name '*.1' -exec gzip -9n {} +
sed -n '/^overrides:/,$p' "$src/tools/deb.control" | sed 1d >"$stage/usr/share/lintian/overrides/hexrig"

# programs and libraries
elf=$(find "$stage/usr" -type f | while read -r f; do
    case $(head -c 4 "$f" | od -An -c | tr -d ' ') in 177ELF) echo "$f" ;; esac
done)
for f in $elf; do
    case $f in */bin/*) ;; *.so*) chmod 644 "$f" ;; esac
    strip --strip-unneeded --remove-section=.comment --remove-section=.note "$f"
done
# package of a library's file, whichever of /lib and /usr/lib dpkg knows it by
owner() {
    for path in "$1" "/usr$1" "${1#/usr}"; do
        dpkg-query -S "$path" 2>/dev/null && return 0
    done | sed -n '1s/: .*//p' | sed 's/,.*//'
}
depends=$(for f in $elf; do readelf -d "$f"; done | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | sort -u | while read -r lib; do
    [ ! -e "$stage/usr/lib/$lib" ] || continue
    path=$(ldconfig -p | sed -n "s|^[[:space:]]*$lib (.*x86-64.*) => ||p; s|^[[:space:]]*$lib (.*AArch64.*) => ||p" | head -1)
    [ -n "$path" ] || { [ "$lib" = libmpi.so.40 ] || echo "deb: whose is $lib?" >&2; continue; }
    package=$(owner "$(realpath "$path")")
    [ -n "$package" ] || package=$(owner "$path")
    case $package in
    '' | libopenmpi*) ;; # MPI is loaded where it is
    *) echo "${package%%:*} (>= $(dpkg-query -W -f '${Version}' "$package" | sed 's/^\([0-9]*:\)\{0,1\}\([^-+~]*\).*/\1\2/'))" ;;
    esac
done | sort -u | paste -sd, | sed 's/,/, /g')

sed "/^overrides:/,\$d; s/@VERSION@/$version/; s/@ARCH@/$arch/; s/@MAINTAINER@/$maintainer/; s/@DEPENDS@/$depends, fuse3/" \
    "$src/tools/deb.control" >"$stage/DEBIAN/control"
sed -i "/^Architecture:/a Installed-Size: $(du -k -s "$stage/usr" | cut -f1)" "$stage/DEBIAN/control"
echo "libhexrig ${version%%.*} hexrig (>= $version)" >"$stage/DEBIAN/shlibs"
echo "activate-noawait ldconfig" >"$stage/DEBIAN/triggers"
(cd "$stage" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$stage/DEBIAN/md5sums"
find "$stage" -type d -exec chmod 755 {} +
dpkg-deb --root-owner-group --build "$stage" "$out/hexrig_${version}_$arch.deb" >/dev/null
echo "$out/hexrig_${version}_$arch.deb"
