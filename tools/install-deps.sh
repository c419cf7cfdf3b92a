#!/bin/sh
# Installs the Debian packages that building, testing and the demo need.  Quick and silent when all are there.
set -eu

packages="gcc make python3 pkg-config libfuse3-dev fuse3 libnuma-dev libcmocka-dev libjansson-dev libmicrohttpd-dev liblapacke libopenblas0-pthread"

# pkg-config may be provided by pkgconf, so a virtual name counts as well
installed() {
    dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed && return 0
    [ "$1" = pkg-config ] && command -v pkg-config >/dev/null 2>&1
}

command -v dpkg-query >/dev/null 2>&1 || {
    echo "install-deps: this is not a Debian system; install what corresponds to:" $packages >&2
    # the build itself says what is really missing
    exit 0
}

missing=
for p in $packages; do
    installed "$p" || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

sudo=
if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        sudo=sudo
    elif command -v sudo >/dev/null 2>&1 && [ -t 0 ]; then
        sudo=sudo # asks for the password
    else
        echo "install-deps: not root and no sudo; as root: apt-get install$missing" >&2
        exit 1
    fi
fi

echo "install-deps: installing$missing" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { $sudo apt-get update -q &&
       $sudo env DEBIAN_FRONTEND=noninteractive \
           apt-get install -y -q --no-install-recommends $missing; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "install-deps: apt-get failed; needed:$missing" >&2
    exit 1
fi
