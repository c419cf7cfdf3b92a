#!/bin/sh
# Every header that clients and skels see compiles alone, without a warning.  Usage: headers.sh BUILD (unused)
set -eu
cd "$(dirname "$0")/../.."
n=0
for h in host/api/hexrig.h rpc/include/*.h rpc/wire/*.h rpc/queue/*.h rpc/block/*.h dsp/include/*.h dsp/include/hexrig/*.h; do
    [ -f "$h" ] || continue
    ${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wstrict-prototypes -Wno-psabi -Werror \
        -Irpc/include -Irpc/wire -Irpc/queue -Irpc/block -Idsp/include -Idsp/include/hexrig -fsyntax-only -include "$h" -x c /dev/null || {
        echo "headers: $h does not compile alone" >&2
        exit 1
    }
    n=$((n + 1))
done
echo "$n headers"
