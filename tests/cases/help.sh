#!/bin/sh
# Every command of hexrig says what it understands: --help prints to stdout alone, exits with 0, begins with how the command is
# used, fits into 80 columns and ends with an example; its options are told in one style; hexrig help COMMAND is the same.  From the same tables
# come man pages, completion, and what a mistyped word is taken for.  Usage: help.sh BUILD
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
    ! grep -n '.\{81\}' out || fail "$*: longer than 80 columns"
    ! grep -E '^ +(-[a-zA-Z], )?--[^ ]+ +[A-Z][a-z]+ ' out || fail "$*: a description begins with a capital"
    "$hexrig" "$@" -h | cmp -s - out || fail "$*: -h is another help"
    "$hexrig" help "$@" | cmp -s - out || fail "help $*: another help than $* --help"
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
    block | model | bench | dsp | geometry | report | spec)
        for action in $(actions "$command"); do
            check "$command" "$action"
            n=$((n + 1))
        done
        ;;
    esac
done
[ $n -ge 32 ] || fail "--help: lists $n commands and actions"
for command in '' idl; do # the commands themselves, and a program of its own
    "$hexrig" $command --help >out
    "$hexrig" help $command | cmp -s - out || fail "help $command: another help than $command --help"
    ! grep -n '.\{81\}' out || fail "$command: longer than 80 columns"
done
echo "ok help of $n commands and actions"

# --- man pages: every option of the text is there, and troff has no complaint
troff=$(command -v groff || :)
for command in '' $(actions); do
    "$hexrig" help --man $command >page 2>err || fail "help --man $command: exit code $?"
    [ ! -s err ] || fail "help --man $command: talks to stderr: $(cat err)"
    grep -q "^hexrig${command:+-$command} .- [a-z3A]" page || fail "help --man $command: no line for whatis"
    "$hexrig" help $command | grep -o -e ' --[a-z][a-z-]*' | tr -d ' ' | sort -u >options
    tr -d '\134' <page >plain
    while read -r option; do
        grep -qF -e "$option" plain || fail "help --man $command: without $option"
    done <options
    [ -z "$troff" ] || groff -man -Tascii -ww -z page 2>err || fail "help --man $command: $(cat err)"
    [ ! -s err ] || fail "help --man $command: $(head -3 err)"
done
echo "ok man pages${troff:+, as groff reads them}"

# --- completion
"$hexrig" help --completion >completion
if command -v bash >/dev/null; then
    bash -n completion
    cat >complete <<'END'
. ./completion
shopt -s extglob
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
_hexrig
echo "${COMPREPLY[*]}"
END
    completes() { # completes WANT WORD...
        want=$1
        shift
        have=$(bash complete hexrig "$@")
        [ "$have" = "$want" ] || fail "completion of '$*': '$have' instead of '$want'"
    }
    completes 'run run-with' ru
    completes '--tokens=' run --tok
    completes '--tokens=' run -p x --tok
    completes 'stats' block st
    completes '--basis=' block stats --bas
    completes 'vtcm' run --placement = vt
    completes 'ddr dma' run --placement = d
    completes 'density' help den
    completes '' density --crt-sh
    completes '--crt-shard' run --crt-sh
    completes '' run xyz
    echo "ok completion in bash"
fi

# --- what was meant
while IFS='|' read -r line says; do
    rc=0
    "$hexrig" $line >out 2>err </dev/null || rc=$?
    [ $rc = 2 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -qF -e "$says" err || fail "$line: exit code $rc, $(cat err)"
done <<'END'
rnu|hexrig: unknown command 'rnu' (did you mean 'run'?); legal: up,
help sttus|hexrig help: unknown command 'sttus' (did you mean 'status'?)
run --tocens 4|hexrig run: unrecognized option '--tocens' (did you mean '--tokens'?); see hexrig run --help
run --zork|hexrig run: unrecognized option '--zork'; see
run -n|hexrig run: '-n' wants a value, N; see
run --tokens|hexrig run: '--tokens' wants a value, N; see
run --json=1|hexrig run: '--json' takes no value; see
run -p --zork -Q|hexrig run: unrecognized option '-Q'; see
run --top 3|hexrig run: '--top' may be '--top-k' or '--top-p'; see
run-with --filer x true|hexrig run-with: unrecognized option '--filer'
block sats|hexrig block: unknown action 'sats' (did you mean 'stats'?)
help run more words|hexrig help: unexpected argument 'words'
help --man run x|hexrig help: unexpected argument 'x'
END
echo "ok what was meant"

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
