# Reports of key=value lines and refusals, for cases; to be sourced by a shell with `set -eu`.

fail() {
    echo "$(basename "$0" .sh): $*"
    exit 1
}

# figure KEY FILE
figure() { sed -n "s/^$1=//p" "$2"; }

# holds FILE KEY CONDITION, in awk's words: `v` is the figure
holds() {
    v=$(figure "$2" "$1")
    [ -n "$v" ] && awk -v v="$v" "BEGIN { exit !($3) }" || fail "$1: $2 is '$v', not $3"
}

# refuses STATUS WORDS COMMAND...: the command fails with this status and one line that has these words
refuses() {
    want=$1 words=$2
    shift 2
    rc=0
    "$@" >out 2>err || rc=$?
    [ "$rc" = "$want" ] || fail "exit $rc: $*"
    [ "$(wc -l <err)" = 1 ] && grep -q "$words" err || fail "'$(cat err)' does not say '$words'"
}
