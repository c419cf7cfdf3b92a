# Sourced by the other scripts here: a program's sources at the commit that it was tried with, below BUILD/real, which is no part
# of this project; exit 77 with a reason where they cannot be had.  STAY_S: how long a daemon has to stay up.
set -eu
build=$(cd "$1" && pwd)
# shellcheck disable=SC2034 # for the scripts
src=$(cd "$(dirname "$0")/../.." && pwd)
hexrig=$build/bin/hexrig
stay=${STAY_S:-60}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_RUNTIME_DIR="$dir"
unset HEXRIG_DEVICE

skip() {
    echo "skip: $*"
    exit 77
}
fail() {
    echo "FAIL $*"
    cat "$dir"/out 2>/dev/null || :
    exit 1
}

sources() { # sources NAME REPOSITORY COMMIT: into $real
    real=$build/real/$1
    [ -e "$real/.whole" ] && return
    rm -rf "$real"
    command -v git >/dev/null || skip "no git"
    timeout 300 git clone -q "$2" "$real" 2>"$dir/git" || skip "$2 cannot be had: $(tail -n 1 "$dir/git")"
    git -C "$real" -c advice.detachedHead=false checkout -q "$3" 2>"$dir/git" || skip "$2 has no $3"
    : >"$real/.whole"
}

# stays COMMAND...: a daemon under run-with --preload, where it sees its device, is there until the time is over, and has begun to listen once.
stays() {
    rc=0
    "$hexrig" run-with --preload --report="$dir/report" -- timeout "$stay" "$@" >"$dir/out" 2>&1 || rc=$?
    [ $rc = 124 ] || fail "$*: exit $rc within $stay s"
    cat "$dir/report" >>"$dir/out"
    [ "$(awk '$1 ~ /^adsp_listener1?\.init2$/ { n += $2 } END { print n + 0 }' "$dir/report")" = 1 ] ||
        fail "$*: it started over"
    echo "ok   $* stays up for $stay s"
}
