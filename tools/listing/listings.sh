#!/bin/sh
# The packet tables of kernels: NAME.listing.h from what clang makes of NAME.c for Hexagon, for the functions in
# its line `/* listing: FUNCTION... */`.
#
#   listings.sh make|check BUILD
#
# make writes headers that are out of date; check only says so.  Exit: 0 all up to date, 1 not or a kernel that gives no
# tables, 77 no compiler (and the reason).  The compiler is clang-19, the machine's or the oracle's.
set -u
here=$(cd "$(dirname "$0")/../../tests/oracle" && pwd)
. "$here/tools.sh"
mode=$1
tools_dir "$2"
out=$(mkdir -p "$2/listings" && cd "$2/listings" && pwd)
generator=$(cd "$2" && pwd)/tools/hexrig-listing
root=$(cd "$root" && pwd)
cd "$root" || exit 1

say() { echo "listings: $*" >&2; }

for_hexagon() { "$1" --print-targets 2>/dev/null | grep -q '^ *hexagon '; }

if for_hexagon clang-19; then
    clang='clang-19'
else
    "$here/fetch.sh" "$tools" || { say "skip: no clang-19 for Hexagon, and it cannot be fetched"; exit 77; }
    PATH=$llvm/bin:$PATH
    LD_LIBRARY_PATH=$llvm/lib:$tools/root/usr/lib/x86_64-linux-gnu
    export PATH LD_LIBRARY_PATH
    clang=clang
    for_hexagon clang || { say "skip: the oracle's clang does not know Hexagon"; exit 77; }
fi

# clang's software pipeliner breaks ties by the addresses of its objects: with the same input it gives one of a few
# schedules.  Without address randomisation it is the same one nearly always; the other tries are for where it is not,
# or where a container forbids to turn it off.
still=$(setarch "$(uname -m)" -R true 2>/dev/null && echo "setarch $(uname -m) -R")
tries="1 2 3 4 5 6 7 8"

compile() { # compile SOURCE OUT FLAGS...; clang's own headers come before those of dsp/include
    source=$1 to=$2
    shift 2
    $launch "$clang" --target=hexagon -mv69 -mhvx -mhvx-length=128B -std=gnu11 -ffreestanding -fno-builtin -nostdlibinc \
        -gline-tables-only -S -iquote "$out/none" -Ikernels -idirafter dsp/include -idirafter dsp/include/hexrig -idirafter rpc/include -idirafter rpc/wire -idirafter rpc/block \
        -idirafter tests/oracle/libc "$@" "$source" -o "$to"
}

tables() { # tables SOURCE: makes $out/NAME.listing.h
    compile "$1" "$out/$name.release.s" -O2 -fno-unroll-loops &&
        compile "$1" "$out/$name.debug.s" -O0 &&
        "$generator" "$out/$name.release.s" "$out/$name.debug.s" -s "${1##*/}" -f "$functions" -o "$out/$name.listing.h"
}

one() { # one SOURCE
    name=$(basename "$1" .c)
    functions=$(sed -n 's|^/\* listing: \(.*\) \*/$|\1|p' "$1" | tr '\n' ' ')
    committed=${1%.c}.listing.h
    mkdir -p "$out/none"
    : >"$out/none/$name.listing.h" # for a kernel whose header does not exist yet
    for try in $tries; do
        launch=
        [ "$try" -gt 2 ] || launch=$still
        tables "$1" || { say "$1: no tables"; return 1; }
        cmp -s "$out/$name.listing.h" "$committed" && return 0
        [ "$try" != 1 ] || cp "$out/$name.listing.h" "$out/$name.first.h"
        [ -e "$committed" ] || break
    done
    if [ "$mode" = check ]; then
        say "$committed is out of date: make listings"
        diff "$committed" "$out/$name.first.h" | head -20 >&2
        return 1
    fi
    cp "$out/$name.first.h" "$committed"
    say "$committed written"
}

rc=0 n=0
for f in kernels/*/*.c; do
    grep -qs '^/\* listing: ' "$f" || continue
    one "$f" || rc=1
    n=$((n + 1))
done
for f in kernels/*/*.listing.h; do
    [ ! -e "$f" ] || grep -qs '^/\* listing: ' "${f%.listing.h}.c" || { say "$f has no kernel"; rc=1; }
done
[ $rc = 0 ] && echo "listings: $n kernels up to date, $("$clang" --version | sed -n '1s/.*\(clang version [^ ]*\).*/\1/p')"
exit $rc
