# Sourced by the suites: `sh NAME.sh BUILD` prints one line "KIND NAME COMMAND..." per program that is to run.  The words of
# a line are split as xargs does it; KIND and NAME together are unique.
# shellcheck disable=SC2034 # for the suites
build=$1
src=$(cd "$(dirname "$0")/../.." && pwd)

programs() { # programs DIR KIND [PREFIX COMMAND...]: every test program of DIR
    dir=$1 kind=$2
    shift 2
    for f in "$dir"/test_* "$dir"/check_* "$dir"/bug_*; do
        [ -x "$f" ] && [ -f "$f" ] && echo "$kind $(basename "$f")${*:+ $*} $f"
    done
}

skip() { # skip KIND NAME REASON...: a line that is counted as skipped
    kind=$1 name=$2
    shift 2
    echo "$kind $name sh $src/tests/skip.sh $*"
}
