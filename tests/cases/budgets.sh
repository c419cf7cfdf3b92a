#!/bin/sh
# docs/examples/budgets as its reader takes it: the steps of the workflow after a build, and the cmocka program; a budget that is too
# small and figures that differ fail both.  Usage: budgets.sh BUILD
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
unset HEXRIG_DEVICE HEXRIG_LIBEXEC
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 711 "$dir"
export XDG_RUNTIME_DIR="$dir" PATH="$build/bin:$PATH"
cd "$dir"
cp "$src"/docs/examples/budgets/* .

fail() {
    echo "budgets: $*" >&2
    [ ! -f err ] || sed 's/^/      /' err >&2
    exit 1
}
step() { # step NAME: what the workflow runs
    command=$(sed -n "/- name: $1/{n;s/^ *run: //p}" github-actions.yml)
    [ -n "$command" ] || fail "the workflow has no step '$1'"
    sh -c "$command" >out 2>err
}

step limits || fail "the example is not within its own budget"
hexrig density --geometry smollm2-135m --density batched,queue --pos 16 --save-baseline density.baseline >out 2>err || fail "no baseline"
step figures || fail "figures differ from themselves"
echo "ok the workflow"

sed -i 's/^\(queue@16.model_us_per_token.exec = \).*/\11/' density.baseline
! step figures || fail "another figure passes"
grep -q '^-queue@16.model_us_per_token.exec = 1 +- 2%$' err || fail "no diff of a figure"
echo "ok a figure that differs"

if ! echo '#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>' | ${CC:-gcc} -E - >/dev/null 2>&1 || ! command -v pkg-config >/dev/null; then
    echo "skip: no cmocka or pkg-config"
    exit 77
fi
export PKG_CONFIG_PATH="$build/lib/pkgconfig"
${CC:-gcc} -Wall -Wextra -Werror test_calls.c $(pkg-config --cflags --libs hexrig-rpc) -lcmocka -o test_calls
./test_calls >out 2>err || fail "the cmocka program fails"
sed -i 's/^\(batched@\*.calls_per_token <= \)60/\159/' density.budget
! ./test_calls >out 2>err || fail "too many calls pass"
[ "$(grep -c '^-batched@16.calls_per_token <= 59$' err)" = 1 ] &&
    grep -q '^+batched@16.calls_per_token = 60 (+1.695 %)$' err || fail "no diff of a limit"
echo "ok the cmocka program"
