#!/bin/sh
# No two files of a part need each other, unless circles.allowed says why they may: whoever reads, tests or replaces one file
# should not have to take fifteen others along.  Usage: circles.sh [BUILD]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
command -v "${NM:-nm}" >/dev/null || { echo "skip: no nm"; exit 77; }
exec python3 "$here/circles.py" "$here/../.." "${1:-build}" "$here/circles.allowed"
