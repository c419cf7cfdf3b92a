#!/bin/sh
# tests/run.sh itself: what fails is told and fails the run, also when it is run again alone; what then passes is named as unsteady; what
# computes keeps to one processor when there are just as many as programs at a time.
# Usage: runner.sh BUILD
set -eu
unset AGAIN JOBS TEST_TIMEOUT SOAK_S # of the run that this is a part of
src=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/tests/suites" "$dir/build"
cp "$src/tests/run.sh" "$dir/tests/"
printf '# they wait\npasses\n' >"$dir/tests/suites/sleepers" # it runs beside the others, and counts
echo keeps >"$dir/tests/suites/computing"

cat >"$dir/once.sh" <<'END'
[ ! -e "$1" ] || exit 0
: >"$1"
echo "Error: the first time"
exit 1
END
echo 'echo "Error: always"; exit 3' >"$dir/never.sh"
echo "echo case passes true; echo case unlucky sh $dir/once.sh $dir/was; echo case broken sh $dir/never.sh" >"$dir/tests/suites/both.sh"
echo "echo case passes true; echo case unlucky sh $dir/once.sh $dir/was" >"$dir/tests/suites/unlucky.sh"
echo '[ "$(nproc)" = "$1" ] || { echo "Error: $(nproc) processors"; exit 1; }' >"$dir/has.sh"
echo "echo unit keeps sh $dir/has.sh \$keeps; echo unit roams sh $dir/has.sh \$roams" >"$dir/tests/suites/places.sh"

fail() {
    echo "FAIL: $*"
    cat "$dir/out"
    exit 1
}

# run SUITE EXIT LAST-LINE, with settings before it
run() {
    rm -f "$dir/was"
    rc=0
    "$dir/tests/run.sh" "$dir/build" "$1" >"$dir/out" 2>&1 || rc=$?
    [ "$rc" = "$2" ] || fail "$1: exit $rc, not $2"
    [ "$(tail -n 1 "$dir/out")" = "$3" ] || fail "$1 does not end with '$3'"
}

run unlucky 0 "3 passed, 0 failed, 0 skipped"
grep -q '^unsteady case unlucky: passed alone; before: exit 1, [0-9]*s; Error: the first time$' "$dir/out" || fail "no word of it"
run both 1 "3 passed, 1 failed, 0 skipped"
grep -q '^FAIL  case broken: exit 3, .*; Error: always$' "$dir/out" || fail "the broken one is not named"
! grep -q '^unsteady case broken' "$dir/out" || fail "it did not pass alone"
AGAIN=0 run unlucky 1 "2 passed, 1 failed, 0 skipped"
AGAIN=1 run both 1 "2 passed, 2 failed, 0 skipped" # too many to be chance
export keeps=1 roams
roams=$(nproc)
JOBS=$roams AGAIN=0 run places 0 "3 passed, 0 failed, 0 skipped"
keeps=$roams
JOBS=$((roams + 1)) AGAIN=0 run places 0 "3 passed, 0 failed, 0 skipped"

# a name that nothing has any more would mean nothing
for list in sleepers computing; do
    sed '/^#/d' "$src/tests/suites/$list" | while read -r name; do
        [ -n "$(find "$src/tests" -name "$name.c" -o -path "*/cases/$name.sh")" ] || { echo "FAIL: tests/suites/$list: there is no $name"; exit 1; }
    done
done
sed '/^#/d' "$src/tests/suites/sleepers" "$src/tests/suites/computing" | LC_ALL=C sort | uniq -d >"$dir/out"
[ ! -s "$dir/out" ] || fail "what computes does not sleep"
echo "ok: what is unsteady is named, what is broken fails"
