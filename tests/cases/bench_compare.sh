#!/bin/sh
# hexrig bench compare times both commands as often as it says, names a command that fails, and leaves nothing running when it is
# interrupted.  Of times only what a command cannot undercut is looked at.  Usage: bench_compare.sh BUILD
set -eu
hexrig=$(cd "$1" && pwd)/bin/hexrig
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

fail() {
    echo "bench_compare: $*" >&2
    sed 's/^/      /' out err >&2
    exit 1
}
run() { # run STATUS ARGUMENT...
    want=$1
    shift
    got=0
    timeout 300 "$hexrig" bench compare "$@" >out 2>err || got=$?
    [ "$got" = "$want" ] || fail "exit status $got, not $want: $*"
}
value() { sed -n "s/^$1=//p" out; }
same() { [ "$(value "$1")" = "$2" ] || fail "$1 is '$(value "$1")', not '$2'"; }
says() { grep -q -- "$1" err || fail "no '$1'"; }

cat >count <<'END'
#!/bin/sh
echo "$1" >>"$2"
sleep "$3"
END
chmod +x count

# the order of turns, counted ones and the first
run 0 './count a turns 0' -- './count b turns 0.1' --reps 3 --paired --cooldown 0.01 --bootstrap 200 --seed 7
[ "$(tr -d '\n' <turns)" = baabbaab ] || fail "turns: $(cat turns)"
same a.command './count a turns 0'
same reps 3
same paired 1
same bootstrap.draws 200
same bootstrap.seed 7
same t_test.kind paired
same t_test.df 2
same wilcoxon.kind signed_rank
same wilcoxon.exact 1
[ "$(value b.runs_s | tr ',' '\n' | wc -l)" = 3 ] || fail "runs of b"
awk "BEGIN { exit !($(value b.min_s) >= 0.1 && $(value ratio_low) <= $(value mean_ratio) && $(value mean_ratio) <= $(value ratio_high)) }" ||
    fail "ratio or times"
run 0 --reps 2 --json ./count a turns 0 -- ./count b turns 0
grep -q '^{.*"command": "./count b turns 0".*"kind": "welch".*"kind": "rank_sum".*}$' out || fail "no JSON"
run 0 --reps 2 "methods --json" -- methods
echo "ok turns, text and JSON, commands of hexrig"

run 1 true -- "sh -c 'echo first >&2; echo last words >&2; exit 3'"
says "bench compare: B failed in the run that does not count: sh -c .*: exit code 3; its stderr:"
says '^  last words$'
printf 'test ! -e "$0.mark" || exit 1\ntouch "$0.mark"\n' >once
run 1 true -- 'sh once'
says 'B failed in run 1: sh once: exit code 1; nothing on its stderr'
run 1 "sh -c 'kill -9 \$\$'" -- true
says 'A failed in .*: signal 9 (Killed)'
run 1 true -- ./missing
says 'bench compare: B: ./missing: No such file'
run 1 'run --zork' -- true
says "hexrig run: unrecognized option '--zork'"
echo "ok the command that fails"

run 2 true
run 2 true --
run 2 -- true
run 2 true -- true more
says "put quotes around 'true more'"
run 2 'a | b' -- true
run 2 "a 'b" -- true
run 2 true -- true --reps 1
says 'legal: integers from 2 to 1000'
echo "ok refusals"

# one that waits, with a child that nobody's signal but SIGKILL ends
cat >waits <<'END'
#!/bin/sh
trap '' TERM
sleep 1000 &
trap - TERM
echo $$ $! >pids.new
mv pids.new pids
wait
END
"$hexrig" bench compare true -- 'sh waits' >out 2>err &
pid=$!
for _ in $(seq 600); do
    [ ! -e pids ] || break
    sleep 0.1
done
[ -e pids ] || fail "B did not start"
kill -TERM $pid
got=0
wait $pid || got=$?
[ $got = 143 ] || fail "exit status $got after SIGTERM"
says 'interrupted (Terminated)'
lives() { [ -e "/proc/$1" ] && ! grep -qs '^State:.Z' "/proc/$1/status"; }
read -r shell child <pids
for p in "$shell" "$child"; do
    for _ in $(seq 600); do
        lives "$p" || break
        sleep 0.1
    done
    ! lives "$p" || fail "process $p is left"
done
echo "ok an interrupt leaves nothing"
