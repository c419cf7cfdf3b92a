#!/bin/sh
# tests/fuzz.sh, the script behind `make fuzz`: a run ends with a table, a finding is counted and its input kept, inputs that
# reach more code are kept on demand; and every target has a kept corpus, all of them together below 1 MB.  Usage: fuzz.sh BUILD
set -eu
build=$(cd "$1" && pwd)
src=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() {
    echo "fuzz: $*"
    exit 1
}

find "$src/tests" -name 'fuzz_*.c' ! -path '*/lib/*' >"$dir/targets"
while read -r c; do
    name=$(basename "$c" .c)
    [ -n "$(ls "$src/tests/data/fuzz/${name#fuzz_}" 2>/dev/null)" ] || fail "no corpus for $name"
done <"$dir/targets"
bytes=$(find "$src/tests/data/fuzz" -type f -exec cat {} + | wc -c)
[ "$bytes" -lt 1000000 ] || fail "tests/data/fuzz has $bytes bytes"

# a target that takes inputs which begin with "bad" for a finding
cat >"$dir/target.c" <<'C'
#include <stddef.h>
#include <stdint.h>
int hxt_fuzz_one(const uint8_t *data, size_t n);
int hxt_fuzz_one(const uint8_t *data, size_t n)
{
    if (n < 3 || data[0] != 'b')
        return 0;
    return data[1] == 'a' ? data[2] == 'd' : 0;
}
C
export FUZZ_KEPT="$dir/kept"
try() { # try ENGINE COMPILER...: the seed is clean, "bad" is found, and what is merged is what reaches more code
    engine=$1
    shift
    mkdir -p "$dir/$engine/tests" "$FUZZ_KEPT/planted"
    "$@" -g "$dir/target.c" -o "$dir/$engine/tests/fuzz_planted"
    printf 'bae' >"$FUZZ_KEPT/planted/seed"
    if TIME=60 "$src/tests/fuzz.sh" run "$dir/$engine" planted >"$dir/out" 2>"$dir/err"; then
        fail "$engine: no finding: $(cat "$dir/out")"
    fi
    grep -q "^planted  *$engine .* 1$" "$dir/out" || fail "$engine: $(cat "$dir/out" "$dir/err")"
    [ "$(head -c 3 "$dir/$engine"/findings/planted-*)" = bad ] || fail "$engine: $(ls "$dir/$engine/findings")"
}

limit=$src/tests/lib/input_limit.c
try own gcc "$src/tests/lib/fuzz_main.c" "$limit"
mkdir "$dir/asan" && ln -s "$build/asan/tests" "$dir/asan/tests"
TIME=1 FUZZ_KEPT=$src/tests/data/fuzz "$src/tests/fuzz.sh" run "$dir/asan" frame >"$dir/out" 2>"$dir/err" ||
    fail "$(cat "$dir/out" "$dir/err")"
grep -q '^frame  *own  *[12]  *[1-9][0-9]*  *-  *-  *0$' "$dir/out" || fail "$(cat "$dir/out")"

# the filter `trace`, which writes a file of the name that it is told
mkdir "$dir/here" && printf 'ytrace:file=named' >"$dir/name" && printf 'ytrace:file=%s/here/path' "$dir" >"$dir/path"
(cd "$dir/here" && "$build/tests/fuzz_config" --crash-file "$dir/config-crash" "$dir/name" "$dir/path") >"$dir/out" 2>&1 ||
    fail "fuzz_config: $(cat "$dir/out")"
[ -z "$(ls "$dir/here")" ] || fail "fuzz_config writes files: $(ls "$dir/here")"

cc=$("$src/tests/fuzz.sh" compiler)
[ -n "$cc" ] || { echo "fuzz: skip: no clang 16 or later with libFuzzer (libclang-rt-19-dev)"; exit 77; }
try libFuzzer "$cc" -fsanitize=fuzzer,address "$src/tests/lib/fuzz_libfuzzer.c" "$limit"
grep -q '^planted .* [1-9][0-9]*  *[1-9][0-9]*  *[0-9]*  *1$' "$dir/out" || fail "no runs, no coverage: $(cat "$dir/out")"
rm "$dir/libFuzzer"/findings/*
printf 'b??' >"$dir/libFuzzer/corpus/planted/one-more"
cp "$FUZZ_KEPT/planted/seed" "$dir/libFuzzer/corpus/planted/the-same"
"$src/tests/fuzz.sh" merge "$dir/libFuzzer" planted >"$dir/out"
[ "$(find "$FUZZ_KEPT/planted" -type f | wc -l)" -ge 2 ] || fail "merge: $(cat "$dir/out")"
echo "fuzz: ok"
