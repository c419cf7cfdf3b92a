#!/bin/sh
# The packet tables of kernels: `hexrig listing` for each source that includes one.
#
#   listings.sh make|check BUILD
#
# make writes tables that are out of date; check says whether their sources or flags have changed and, where there is a compiler,
# whether it gives them.  Exit: 0 all up to date, 1 not or a kernel that gives no table, 77 no compiler (and the reason).  The
# compiler is what `hexrig listing` finds, or the oracle's.
set -u
here=$(cd "$(dirname "$0")/../../tests/oracle" && pwd)
. "$here/tools.sh"
mode=$1
tools_dir "$2"
hexrig=$(cd "$2" && pwd)/bin/hexrig
root=$(cd "$root" && pwd)
cd "$root" || exit 1

say() { echo "listings: $*" >&2; }

tables() { # tables OPTION...: of all kernels
    "$hexrig" listing -q "$@" -I kernels -I rpc/wire -I rpc/block $(grep -l '#include ".*\.listing\.h"' kernels/*/*.c)
}

compiler() { # sets what `hexrig listing` finds
    [ -n "${HEXAGON_CLANG-}" ] && return
    clang-19 --print-targets 2>/dev/null | grep -q '^ *hexagon ' && return
    "$here/fetch.sh" "$tools" || { say "skip: no clang-19 for Hexagon, and it cannot be fetched"; exit 77; }
    LD_LIBRARY_PATH=$llvm/lib:$tools/root/usr/lib/x86_64-linux-gnu
    HEXAGON_CLANG=$llvm/bin/clang
    export HEXAGON_CLANG LD_LIBRARY_PATH
}

rc=0
for f in kernels/*/*.listing.h; do
    grep -qs "#include \"\(.*/\)\?${f##*/}\"" "${f%.listing.h}.c" || { say "$f has no kernel"; rc=1; }
done
if [ "$mode" = check ]; then
    tables --check || exit 1
    compiler
    tables --compare || rc=1
else
    compiler
    tables || rc=1
fi
[ $rc = 0 ] && echo "listings: $(ls kernels/*/*.listing.h | wc -l) kernels up to date"
exit $rc
