#!/bin/sh
# Runs fuzz targets for a time and says what they did: what `make fuzz` does once it has built them.
#
#   tests/fuzz.sh run DIR TARGET...    TIME (60) seconds of each, JOBS (1) at a time; exit 1: a finding
#   tests/fuzz.sh merge DIR TARGET...  of the inputs that earlier runs found, keeps those that reach more code
#   tests/fuzz.sh compiler             the clang to build them with, or nothing when none has libFuzzer
#
# DIR/tests holds the programs, fuzz_TARGET, by libFuzzer or by tests/lib/fuzz_main.c.  Each starts from tests/data/fuzz/TARGET.
# DIR gets corpus/TARGET (new inputs, which the next run starts from, too), findings/ and log/TARGET.
set -u
src=$(cd "$(dirname "$0")/.." && pwd)
kept=${FUZZ_KEPT:-$src/tests/data/fuzz}
keep_bytes=65536 # of one target, so that all of them stay below 1 MB

compiler() {
    for cc in clang-19 clang-18 clang-17 clang-16 clang; do
        major=$($cc -dM -E -x c /dev/null 2>/dev/null | sed -n 's/^.define __clang_major__ //p')
        [ "${major:-0}" -ge 16 ] || continue
        # the runtime is a package of its own
        echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n; }' |
            $cc -fsanitize=fuzzer,address,undefined -x c - -o /dev/null 2>/dev/null || continue
        echo "$cc"
        return
    done
}

is_libfuzzer() { # the other one knows no such option
    "$1" -help=1 >/dev/null 2>&1
}

files_in() {
    find "$1" -type f | wc -l
}

# One target; its line of the table goes to DIR/log/TARGET.line.
one() { # one DIR TARGET
    dir=$1 target=$2 program=$1/tests/fuzz_$2 log=$1/log/$2
    mkdir -p "$dir/corpus/$target"
    [ -d "$kept/$target" ] && folder=$kept/$target || folder=
    before=$(files_in "$dir/corpus/$target")
    if is_libfuzzer "$program"; then
        engine=libFuzzer # its timeout is the clock's, which a busy machine lets run: the target has its own (tests/lib/input_limit.h)
        # No names of new functions: for those it starts a symbolizer, whose pipes a target takes for descriptors that leak.
        "$program" -max_total_time="$TIME" -timeout=0 -max_len=65536 -rss_limit_mb=2560 -print_final_stats=1 -print_funcs=0 \
            -artifact_prefix="$dir/findings/$target-" "$dir/corpus/$target" $folder >"$log" 2>&1
        rc=$?
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        seconds=$(sed -n 's/^Done .* runs in \([0-9]*\) second.*/\1/p' "$log")
        edges=$(grep -a -o ' cov: [0-9]*' "$log" | tail -n 1 | tr -dc 0-9)
        new=$(($(files_in "$dir/corpus/$target") - before))
    else
        engine=own edges=- new=-
        "$program" --seconds "$TIME" --crash-file "$dir/findings/$target-crash" ${folder:+--corpus "$folder"} >"$log" 2>&1
        rc=$?
        runs=$(sed -n 's/.* runs=\([0-9]*\) .*/\1/p' "$log")
        seconds=$(sed -n 's/.* seconds=\([0-9]*\) .*/\1/p' "$log")
    fi
    [ $rc = 0 ] && findings=0 || findings=1 # either engine ends at the first
    printf '%-12s %-10s %7s %11s %8s %6s %9s\n' "$target" "$engine" "${seconds:--}" "${runs:--}" "${edges:--}" "$new" \
        $findings >"$dir/log/$target.line"
    [ $rc = 0 ] || { echo "fuzz $target: exit $rc; the end of $log:"; tail -n 30 "$log"; } >&2
}

run() { # run DIR TARGET...
    dir=$1
    shift
    mkdir -p "$dir/findings" "$dir/log"
    for target in "$@"; do
        [ -x "$dir/tests/fuzz_$target" ] || { echo "fuzz.sh: no program $dir/tests/fuzz_$target" >&2; exit 2; }
        rm -f "$dir/log/$target.line"
    done
    printf '%s\n' "$@" | xargs -n 1 -P "${JOBS:-1}" "$src/tests/fuzz.sh" one "$dir"
    echo "target       engine     seconds        runs coverage    new  findings"
    for target in "$@"; do
        cat "$dir/log/$target.line"
    done
    find "$dir/findings" -type f | sed 's/^/found: /'
    for target in "$@"; do
        grep -q ' 0$' "$dir/log/$target.line" || exit 1
    done
}

# As few inputs as reach all that is reached.  Those that libFuzzer has named, by a hash, make room for them; the others stay.
merge() { # merge DIR TARGET...
    dir=$1
    shift
    mkdir -p "$dir/log"
    for target in "$@"; do
        program=$dir/tests/fuzz_$target best=$dir/merged/$target folder=$kept/$target
        is_libfuzzer "$program" || { echo "fuzz.sh: $program is not libFuzzer's, which merges" >&2; exit 2; }
        rm -rf "$best"
        mkdir -p "$best" "$dir/corpus/$target" "$folder"
        "$program" -set_cover_merge=1 -use_counters=0 -max_len=65536 "$best" "$folder" "$dir/corpus/$target" \
            >"$dir/log/$target.merge" 2>&1 || { tail -n 20 "$dir/log/$target.merge" >&2; exit 1; }
        before=$(files_in "$folder")
        find "$folder" -type f | grep -E '/[0-9a-f]{40}$' | xargs -r rm -f
        find "$best" -type f -printf '%s %f\n' | sort -n | while read -r _ f; do # the smallest first
            find "$folder" -type f -exec cmp -s "$best/$f" {} \; -print | grep -q . && continue
            [ $(($(cat "$folder"/* "$best/$f" 2>/dev/null | wc -c))) -le $keep_bytes ] || break
            cp "$best/$f" "$folder/"
        done
        echo "$target: $before files, now $(files_in "$folder") of $(cat "$folder"/* | wc -c) bytes"
    done
}

TIME=${TIME:-60}
export TIME
export ASAN_OPTIONS=halt_on_error=1:detect_stack_use_after_return=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}
case ${1:-} in
compiler) compiler ;;
one | run | merge) [ $# -ge 3 ] && "$@" ;;
*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
