# make check: every test program of BUILD and of BUILD/asan, the shell cases, the fuzzers, the quick static checks and
# the demo.
# FUZZ_SECONDS (60) is shared by all fuzz programs.
. "$(dirname "$0")/common.sh"

programs "$build/tests" unit
programs "$build/asan/tests" asan
for f in "$src"/tests/cases/*.sh; do
    echo "case $(basename "$f" .sh) sh $f $build"
done
set -- "$build"/asan/tests/fuzz_*
each=$((${FUZZ_SECONDS:-60} / $#))
[ "$each" -gt 0 ] || each=1
for f in "$@"; do
    [ -x "$f" ] || continue
    name=${f##*/fuzz_}
    corpus=$src/tests/data/fuzz/$name
    echo "fuzz $name $f --seconds $each --crash-file $build/fuzz-$name.crash" \
        "$([ -d "$corpus" ] && echo "--corpus $corpus")"
done
sh "$src/tests/suites/static.sh" "$build" quick
echo "demo demo $src/tools/demo.sh $build"
