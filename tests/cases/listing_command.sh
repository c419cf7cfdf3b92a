#!/bin/sh
# `hexrig listing` as a user has it, on kernels of his own: what it says of a source without a compiler; and with one, for which it
# skips where there is none, the table that it writes, what it names that has no table, and that a skel takes the table.
# Usage: listing_command.sh BUILD
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
hexrig=$build/bin/hexrig
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset HEXAGON_CLANG

fail() {
    echo "listing_command: $*"
    cat out
    exit 1
}
listing() { # listing STATUS ARGUMENT...: runs it, its words into `out`
    want=$1
    shift
    got=0
    "$hexrig" listing "$@" >out 2>&1 || got=$?
    [ "$got" = "$want" ] || fail "$*: exit $got, not $want"
}
says() {
    grep -qF -- "$1" out || fail "does not say: $1"
}

# --- without a compiler
mkdir kernels wire
cp -r "$src"/kernels/silicon "$src"/kernels/skel kernels/
cp "$src"/rpc/wire/*.h "$src"/rpc/block/*.h wire/
k=kernels/silicon/modmatmul_hvx.c
check() {
    listing "$1" --check -I kernels -I wire $k
}
check 0
says 'modmatmul_hvx.listing.h: current'
echo '/* a remark */' >>$k
check 0
echo 'int other;' >>kernels/skel/mod30.h # which it includes
check 1
says "modmatmul_hvx.listing.h: stale, the source or what it includes or the flags have changed: hexrig listing $k"
cp "$src"/kernels/skel/mod30.h kernels/skel/
check 0
listing 1 --check -I kernels -I wire -D OTHER=1 $k
echo 'int other;' >>kernels/silicon/modmatmul_hvx.listing.h # the table itself is not what --check reads
check 0
echo 'int other;' >>$k
check 1
rm kernels/silicon/modmatmul_hvx.listing.h
check 1
says 'there is none yet'

listing 2
says 'no source file'
listing 2 -o x.h a.c b.c
says '--output is for one source file'
listing 1 --check nowhere.c
says 'nowhere.c: No such file'
echo 'int f(int x) { return x; } /* HX_CODE(f) */' >none.c
listing 1 --check none.c
says 'none.c: no HX_CODE() in it'
: >empty.c
listing 1 --check empty.c
says 'empty.c: no HX_CODE() in it'
listing 1 --check .
says '.: Is a directory'
printf 'void f(void)\n{\n    HX_CODE(f);\n    HX_TRIPS(64, 1);\n}\n' >many.c
listing 1 --check many.c
says 'many.c:4: f: HX_TRIPS(64, ...): loops have numbers below 64'

# --- no compiler there
printf 'void f(void)\n{\n    HX_CODE(f);\n}\n' >few.c
export HEXAGON_CLANG=/bin/true
listing 1 few.c
says 'no compiler for Hexagon (/bin/true: no clang)'
export HEXAGON_CLANG=$dir/no-such-clang
listing 1 few.c
says "no-such-clang: not found"
unset HEXAGON_CLANG

# --- with one
clang-19 --print-targets 2>/dev/null | grep -q '^ *hexagon ' || { echo "skip: no clang-19 for Hexagon"; exit 77; }
cat >sum.c <<'C'
#include <hvx_hexagon_protos.h>
#include <math.h>

#include "hexrig_code.h"
#include "sum.listing.h"

static int helper(int n)
{
    return n * n;
}

__attribute__((noinline)) HVX_Vector sum(const HVX_Vector *x, int n)
{
    HVX_Vector s = Q6_V_vzero();

    HX_CODE(sum);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++)
        s = Q6_Vw_vadd_VwVw(s, x[i]);
    return s;
}

__attribute__((noinline)) void exps(float *x, int n)
{
    HX_CODE(exps);
    HX_TRIPS(2, n);
    for (int i = 0; i < n; i++)
        x[i] = expf(x[i]) + helper(n);
}
C
listing 1 sum.c
says 'sum.c:26: exps: HX_TRIPS(2, ...): the function has 1 loop'
says 'sum.c:25: exps: loop 1 of 1 has no HX_TRIPS(1, ...): it costs nothing'
[ ! -e sum.listing.h ]
sed -i 's/HX_TRIPS(2/HX_TRIPS(1/' sum.c
listing 0 sum.c
says 'helper has no table: no HX_CODE(helper) in it'
says 'the release build of exps calls expf, which has no table here'
says 'sum.listing.h: written'
listing 0 sum.c
says 'sum.listing.h: current'
listing 0 --compare -q sum.c
[ ! -s out ] || fail "-q talks"
listing 0 --check sum.c
${CC:-gcc} -Wall -Wextra -Werror -I"$build/include/hexrig" -Wno-psabi -c sum.c
${CC:-gcc} -Wall -Wextra -Werror -I"$build/include/hexrig" -Wno-psabi -O2 -E sum.c | grep -q hx_code_sum

# another loop makes it stale; another name, or none, is an error at its line
sed -i 's/s = Q6_Vw_vadd_VwVw(s, x\[i\])/s = Q6_V_vxor_VV(s, x[i])/' sum.c
listing 1 --check sum.c
listing 1 --compare sum.c
says 'not what the compiler makes of the source: hexrig listing sum.c'
sed 's/HX_CODE(sum)/HX_CODE(summ)/' sum.c >wrong.c
listing 1 wrong.c
says 'wrong.c:16: HX_CODE(summ): no function of that name is compiled'
sed 's/^__attribute__((noinline)) HVX_Vector sum/static inline HVX_Vector sum/' sum.c >inlined.c
echo 'HVX_Vector user(const HVX_Vector *x) { return sum(x, 3); }' >>inlined.c
listing 1 inlined.c
says 'inlined.c:16: HX_CODE(sum): the compiler inlines it at -O2: make the function noinline'
echo 'int broken(' >broken.c
cat sum.c >>broken.c
listing 1 broken.c
says 'broken.c:'

# a header of the user's, by -I, and a macro
mkdir include
echo '#define COUNT 3' >include/count.h
printf '#include "count.h"\nint f(int *x)\n{\n    int s = 0;\n    HX_CODE(f);\n    HX_TRIPS(1, COUNT * MORE);\n    for (int i = 0; i < x[0] + COUNT * MORE; i++)\n        s ^= x[i];\n    return s;\n}\n' |
    sed '1i #include "hexrig_code.h"\n#include "flags.listing.h"' >flags.c
listing 1 flags.c
says "'count.h' file not found"
listing 0 -q -I include -D MORE=2 flags.c
listing 0 -q --check -I include -D MORE=2 flags.c
listing 1 -q --check -I include -D MORE=3 flags.c
echo '#define COUNT 4' >include/count.h
listing 1 -q --check -I include -D MORE=2 flags.c

# nothing is left behind
TMPDIR=$dir/tmp && mkdir "$TMPDIR" && export TMPDIR
listing 0 -q sum.c
listing 1 broken.c
[ -z "$(ls "$TMPDIR")" ] || fail "left: $(ls "$TMPDIR")"
