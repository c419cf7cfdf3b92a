#!/bin/sh
# Runs suites of tests and ends with one line: N passed, N failed, N skipped.
#
#   tests/run.sh [BUILD [SUITE...]]      default: build check.  JOBS (2) programs run at a time, and beside them, one by one, those
#                                        that mostly sleep (tests/suites/sleepers).  If AGAIN (3) or fewer fail, each is run once
#                                        more alone.
#
# A suite is tests/suites/NAME.sh, which prints what to run: lines "KIND NAME COMMAND...", see there.
# One line per program; its whole output only when it fails, after the lines of it that tell why; and again one line per program
# that failed, before the totals.  Counts single cmocka tests, everything else as one.  Exit codes of a program: 0 passed,
# 77 skipped with a reason, anything else failed.  A program that fails and then passes alone depends on what ran beside it or on
# chance: it counts as passed, and a line "unsteady" before the totals names it, for it is a defect of the test or of what it tests.
# Everything runs with a TMPDIR and an XDG_RUNTIME_DIR of this run, and at
# the end nothing may be left of it: no process, no mount, no file.
set -u
src=$(cd "$(dirname "$0")/.." && pwd)

# The lines of a log that tell the failure, or its end: an excerpt of a long run may show no more than what is next to "FAIL".
tell() {
    grep -a -m 20 '^\[  ERROR   \]\|^\[   LINE   \]\|^\[  FAILED  \]\|Error: \|FAIL\|^not ok\|ERROR: [A-Za-z]*Sanitizer\|runtime error: \|WARNING: ThreadSanitizer\|[Aa]ssertion\|timed out' "$1" ||
        tail -n 5 "$1"
}

result_of() { # KIND NAME
    echo "$WORK/results/$(echo "$1-$2" | tr / _)"
}

keeps_to() { # KIND NAME: the command that keeps a program that computes to the processor of its place among the JOBS, or nothing
    case $1 in unit | asan) ;; *) return ;; esac
    [ -n "$PLACES" ] && [ -n "${PLACE:-}" ] && grep -qx "$2" "$src/tests/suites/computing" || return
    echo "taskset -c $(echo "$PLACES" | cut -d' ' -f $((PLACE + 1)))"
}

# --- one program: run.sh --one KIND NAME COMMAND...  (the runner calls itself, JOBS at a time)
if [ "${1:-}" = --one ]; then
    kind=$2 name=$3
    shift 3
    out=$(result_of "$kind" "$name")
    mkdir -p "$WORK/tmp/$kind-$name"
    chmod 711 "$WORK/tmp/$kind-$name" # a test runs commands as another user
    start=$(date +%s)
    # no stdin: a test must not wait for a person
    # shellcheck disable=SC2046 # words, or none
    TMPDIR=$WORK/tmp/$kind-$name timeout -k 10 "$TEST_TIMEOUT" $(keeps_to "$kind" "$name") "$@" >"$out.log" 2>&1 </dev/null
    rc=$?
    count() { # last number that cmocka gives after the word
        sed -n "s/^\[ *$1 *\] \([0-9][0-9]*\) test(s).*/\1/p" "$out.log" |
            awk '{ n += $1 } END { print n + 0 }'
    }
    passed=$(count PASSED) failed=$(count FAILED) skipped=$(count SKIPPED)
    case $rc in
    0) [ $((passed + skipped)) -gt 0 ] || passed=1 ;;
    77) [ "$skipped" -gt 0 ] || { passed=0 skipped=1; } ;;
    *) [ "$failed" -gt 0 ] || failed=1 ;; # a crash, a time-out, a leak found at exit
    esac
    echo "$passed $failed $skipped" >"$out.count"
    took=$(($(date +%s) - start))s
    if [ "$failed" -gt 0 ]; then
        # in one piece, although another program may print
        echo "FAIL  $kind $name: exit $rc, $took; $(tell "$out.log" | head -n 1)" >"$out.fail"
        {
            echo "FAIL  $kind $name: exit $rc, $took:"
            tell "$out.log" | sed 's/^/   >> /'
            echo "      its output:"
            sed 's/^/      /' "$out.log"
        } >"$out.say"
    elif [ "$rc" = 77 ] || [ "$skipped" -gt 0 ]; then
        reason=$(grep -i -m 1 'skip:\|skip[a-z]*: ' "$out.log")
        echo "skip  $kind $name: $passed passed, $skipped skipped: ${reason:-no reason given}" >"$out.say"
    else
        # the rows of a table are for the reader, even when all is well
        { echo "ok    $kind $name ($passed) $took"; grep '^| ' "$out.log"; } >"$out.say"
    fi
    cat "$out.say"
    exit 0
fi

# --- lines "KIND NAME COMMAND...", so many at a time: run.sh --list JOBS FILE (a job of the shell's own would ignore SIGINT)
if [ "${1:-}" = --list ]; then
    xargs -r --process-slot-var=PLACE -L 1 -P "$2" "$src/tests/run.sh" --one <"$3"
    exit 0
fi

build=${1:-build}
build=$(cd "$build" && pwd) || exit 1
[ $# = 0 ] || shift
[ $# -gt 0 ] || set -- check
jobs=${JOBS:-2}
# the processors of this run, if there are just as many as programs at a time
PLACES=$(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status | tr , '\n' | while IFS=- read -r a b; do seq -s ' ' "$a" "${b:-$a}"; done | xargs)
[ "$(echo "$PLACES" | wc -w)" = "$jobs" ] || PLACES=
WORK=$(mktemp -d /tmp/hexrig-check.XXXXXX) || exit 1
TEST_TIMEOUT=${TEST_TIMEOUT:-$((900 + 2 * ${SOAK_S:-60}))}
export WORK TEST_TIMEOUT PLACES
export XDG_RUNTIME_DIR="$WORK/run"
export CCACHE_TEMPDIR="$WORK/ccache" # it would take XDG_RUNTIME_DIR, where nothing may be left
export ASAN_OPTIONS=halt_on_error=1:exitcode=99:detect_stack_use_after_return=0
export UBSAN_OPTIONS=halt_on_error=1:exitcode=99:print_stacktrace=1
unset HEXRIG_DEVICE HEXRIG_LIBEXEC HEXRIG_LOG
mkdir -p "$WORK/results" "$WORK/tmp" "$XDG_RUNTIME_DIR"
chmod 711 "$WORK" "$WORK/tmp"
chmod 700 "$XDG_RUNTIME_DIR"

# Processes that live (not zombies) and were started by this run: they carry its folder in their environment.
ours() {
    for p in /proc/[0-9]*; do
        pid=${p#/proc/}
        [ "$pid" != $$ ] || continue
        grep -qsa "XDG_RUNTIME_DIR=$WORK/run" "$p/environ" || continue
        case $(cat "$p/comm" 2>/dev/null) in
        hexrig*) grep -qs '^State:.Z' "$p/status" || echo "$pid" ;;
        esac
    done
}

remove() { # FOLDER, with what is mounted in it
    grep -o " $1/[^ ]* fuse" /proc/self/mounts | while read -r dir _; do
        fusermount3 -u -z "$dir" 2>/dev/null
    done
    rm -rf "$1"
}

# Ends what a program has left that failed: that is told, and is none of the next one's.
end_rest() { # KIND NAME
    for pid in $(ours); do
        ! grep -qsaz "^TMPDIR=$WORK/tmp/$1-$2\$" "/proc/$pid/environ" || kill -9 "$pid" 2>/dev/null
    done
}

cleanup() {
    trap - EXIT
    kill $(ours) 2>/dev/null
    remove "$WORK"
}
trap cleanup EXIT
trap 'cleanup; exit 130' INT TERM

# Of the list those that mostly sleep (1), or the others (0).
sleepers() { # 1|0 FILE
    awk -v inside="$1" 'FNR == NR { if (!/^#/) sleeps[$1]; next } ($2 in sleeps) == inside' "$src/tests/suites/sleepers" "$2"
}

for suite in "$@"; do
    [ -f "$src/tests/suites/$suite.sh" ] || {
        echo "run.sh: no suite '$suite'; there are: $(cd "$src/tests/suites" && ls -- *.sh | sed '/^common/d; s/\.sh//' | tr '\n' ' ')" >&2
        exit 2
    }
    sh "$src/tests/suites/$suite.sh" "$build" || exit 1
done >"$WORK/lines"
awk '!seen[$1, $2]++' "$WORK/lines" >"$WORK/list" # once, what two suites have
sleepers 1 "$WORK/list" >"$WORK/sleepers"
sleepers 0 "$WORK/list" >"$WORK/others"
printf '%s\n' "1 $WORK/sleepers" "$jobs $WORK/others" | xargs -L 1 -P 2 "$src/tests/run.sh" --list

# --- alone, what failed, unless it is many
if [ "$(find "$WORK/results" -name '*.fail' | wc -l)" -le "${AGAIN:-3}" ]; then
    while read -r kind name command; do
        result=$(result_of "$kind" "$name")
        [ -e "$result.fail" ] || continue
        mv "$result.fail" "$result.unsteady"
        end_rest "$kind" "$name"
        remove "$WORK/tmp/$kind-$name"
        echo "again $kind $name, alone:"
        # shellcheck disable=SC2086 # a line of a suite is words
        "$src/tests/run.sh" --one "$kind" "$name" $command
        [ ! -e "$result.fail" ] || rm "$result.unsteady"
    done <"$WORK/list"
fi

# --- what is left?
left=
for _ in 1 2 3 4 5 6 7 8 9 10; do # rigs may take a moment to end
    left=$(ours)
    [ -n "$left" ] || break
    sleep 1
done
leftovers=$({
    for pid in $left; do echo "process $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline")"; done
    grep -o " $WORK/[^ ]* fuse[^ ]*" /proc/self/mounts | sed 's/^/mount/'
    find "$XDG_RUNTIME_DIR" -mindepth 1 ! -name hexrig.log
    find "$WORK/tmp" -mindepth 2
} 2>&1)
if [ -z "$leftovers" ]; then
    echo "ok    check leftovers (1)"
    echo "1 0 0" >"$WORK/results/leftovers.count"
else
    echo "FAIL  check leftovers:" | tee "$WORK/results/leftovers.fail"
    echo "$leftovers" | sed 's/^/      /'
    echo "0 1 0" >"$WORK/results/leftovers.count"
fi

# A program that vanished without a count (the runner itself broke) is a failure too.
expected=$(($(wc -l <"$WORK/list") + 1))
counted=$(find "$WORK/results" -name '*.count' | wc -l)
[ "$expected" -le "$counted" ] || echo "0 $((expected - counted)) 0" >"$WORK/results/lost.count"

find "$WORK/results" -name '*.unsteady' | sort | xargs -r sed 's/^FAIL /unsteady/; s/: exit/: passed alone; before: exit/'
find "$WORK/results" -name '*.fail' | sort | xargs -r cat
cat "$WORK"/results/*.count | {
    p=0 f=0 s=0
    while read -r a b c; do
        p=$((p + a)) f=$((f + b)) s=$((s + c))
    done
    echo "$p passed, $f failed, $s skipped"
    [ "$f" = 0 ]
}
