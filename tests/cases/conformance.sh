#!/bin/sh
# The driver does what FASTRPC clients expect, by each front end that this machine has.  Usage: conformance.sh [BUILD]
set -u
build=$(cd "${1:-build}" && pwd) || exit 1
rig=$build/libexec/hexrig/hexrig-fuse
export DSP_LIBRARY_PATH="$build/tests"
fronts=socket
skipped=0
if [ -r /dev/fuse ] && [ -w /dev/fuse ] && command -v fusermount3 >/dev/null; then
    fronts="fuse socket"
else
    echo "conformance fuse: skipped: /dev/fuse cannot be opened, or fusermount3 is missing"
    skipped=1
fi
failed=0
for f in $fronts; do
    "$build/tests/conformance" --front-end $f --rig "$rig" || failed=1
done
[ $failed = 0 ] || exit 1
[ $skipped = 0 ] || exit 77
