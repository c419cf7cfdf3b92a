#!/bin/sh
# Every command of hexrig says what it understands: --help prints to stdout alone, exits with 0, begins with how the command is
# used, fits into 100 columns and ends with an example; its options are told in one style.  Usage: help.sh BUILD
set -eu
hexrig=$(cd "$1" && pwd)/bin/hexrig
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

fail() {
    echo "help: hexrig $*" >&2
    exit 1
}
check() { # check COMMAND [ACTION]
    "$hexrig" "$@" --help >out 2>err || fail "$* --help: exit code $?"
    [ ! -s err ] || fail "$* --help: talks to stderr: $(cat err)"
    grep -q "^Usage: hexrig $*" out || fail "$*: $(head -1 out)"
    grep -q '^Example: hexrig' out || fail "$*: no example"
    ! grep -n '.\{101\}' out || fail "$*: longer than 100 columns"
    ! grep -E '^ +(-[a-zA-Z], )?--[^ ]+ +[A-Z][a-z]+ ' out || fail "$*: a description begins with a capital"
    "$hexrig" "$@" -h | cmp -s - out || fail "$*: -h is another help"
}
actions() { # those that a command's help lists
    "$hexrig" "$@" --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'
}

n=0
for command in $(actions); do
    [ "$command" != idl ] || continue # a program of its own: hexidl
    check "$command"
    n=$((n + 1))
    case $command in
    block | model | bench | dsp)
        for action in $(actions "$command"); do
            check "$command" "$action"
            n=$((n + 1))
        done
        ;;
    esac
done
[ $n -ge 31 ] || fail "--help: lists $n commands and actions"
echo "ok help of $n commands and actions"

"$hexrig" run --help | grep -q -e '--placement=ddr|vtcm|dma' || fail "run: --placement without its values"

# --crt-shard makes two processes of one
for command in run ppl perplexity-sp; do
    "$hexrig" $command --help | grep -q -e '--crt-shard' || fail "$command: no --crt-shard"
done
for command in density serve "bench engine" "model capture"; do
    rc=0
    ! "$hexrig" $command --help | grep -e '--crt-shard' || fail "$command: --crt-shard, which it has not"
    "$hexrig" $command --crt-shard >out 2>err || rc=$?
    [ $rc = 2 ] && grep -q 'only hexrig run, ppl and perplexity-sp' err || fail "$command --crt-shard: exit code $rc, $(cat err)"
done
echo "ok --crt-shard where it is"

for line in "run --zork" "status --json=1" "block stats --k" "model inspect --zork FILE" "trace --events many x" "up extra"; do
    rc=0
    "$hexrig" $line >out 2>err || rc=$?
    [ $rc = 2 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -q "^hexrig ${line%% *}" err ||
        fail "$line: exit code $rc, $(cat out err)"
done
echo "ok refusals are one line and exit code 2"
