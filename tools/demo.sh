#!/bin/sh
# make demo: what hexrig is about, from the build folder $1 (default: build).  Leaves nothing behind.
set -eu
build=${1:-build}
if [ ! -x "$build/bin/hexrig" ]; then
    echo "demo: $build/bin/hexrig is missing; run make first" >&2
    exit 1
fi
exec "$build/bin/hexrig" demo
