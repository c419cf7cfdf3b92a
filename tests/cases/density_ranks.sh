#!/bin/sh
# hexrig density under mpirun and srun: the rows of one process, byte by byte, whoever measured them; a row that fails, a rank that is
# killed, Ctrl-C.  A stand-in for the launchers always, mpirun where there is one.  Usage: density_ranks.sh BUILD
set -eu
build=$(cd "$1" && pwd)
hexrig=$build/bin/hexrig
unset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE PMIX_RANK PMIX_NAMESPACE
unset SLURM_PROCID SLURM_NTASKS SLURM_JOB_ID SLURM_STEP_ID
dir=$(mktemp -d)
export XDG_RUNTIME_DIR="$dir"
pids=
end() {
    # shellcheck disable=SC2086 # a list
    [ -z "$pids" ] || kill -9 $pids 2>/dev/null || true
    rm -rf "$dir"
}
trap end EXIT
cd "$dir"

fail() {
    echo "density_ranks: $*" >&2
    head -n 20 out err.* 2>/dev/null | sed 's/^/      /' >&2
    exit 1
}

# start RANK-VARIABLE SIZE-VARIABLE N COMMAND...: rank R prints to out.R and err.R; its process is the Rth of $pids
start() {
    rank_var=$1 size_var=$2 n=$3 pids='' r=0
    shift 3
    while [ "$r" -lt "$n" ]; do
        env "$rank_var=$r" "$size_var=$n" "$@" >out.$r 2>err.$r &
        pids="$pids $!"
        r=$((r + 1))
    done
}
# status of each, in $got
finish() {
    got=
    for pid in $pids; do
        rc=0
        wait "$pid" || rc=$?
        got="$got $rc"
    done
    pids=
}
# until COMMAND...: it succeeds within five minutes
until_true() {
    tries=3000
    while ! "$@"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || fail "not within five minutes: $*"
        sleep 0.1
    done
}
left() {
    for f in .hexrig-density-* ./*.ranks ./*.ranks.new ./*.rank[0-9]*; do
        [ ! -e "$f" ] || fail "$f is left"
    done
}

# --- the same rows
same() { # same LAUNCHER-NAME STATUS: out.0 against one
    cmp one out.0 || fail "$1: other rows"
    for r in 1 2; do [ ! -s out.$r ] || fail "$1: rank $r printed rows"; done
    [ "$got" = " $2 0 0" ] || fail "$1: status$got"
    grep -Eq '^hexrig density: 3 ranks: [0-9]+ rows of [0-9.]+ s altogether in [0-9.]+ s: speed-up [0-9.]+$' err.0 || fail "$1: no speed-up"
    left
}
set -- density --density batched,queue --pos 1,4,5000 --sweep profile=s22u-577,s22u-sync
for form in "" --csv --json; do
    # shellcheck disable=SC2086 # may be no word
    "$hexrig" "$@" $form >one 2>why && fail "a row beyond the context"
    for vars in "OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE" "PMI_RANK PMI_SIZE" "SLURM_PROCID SLURM_NTASKS" "PMIX_RANK SLURM_NTASKS"; do
        # shellcheck disable=SC2086
        start $vars 3 "$hexrig" "$@" $form
        finish
        same "$vars $form" 1
        [ "$(grep -v ' ranks: ' err.0)" = "$(cat why)" ] || fail "$vars: another reason: $(cat err.0)"
        [ -n "$form" ] || continue
        break # one launcher is enough for the others
    done
done
echo "ok the same rows"

# rows that share what is counted near
set -- density --geometry 2x2x64 --density per-vector,batched,queue --pos 1,300,400,500 --rows analytic --json
"$hexrig" "$@" >one
start OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE 3 "$hexrig" "$@" --resume kept
finish
same analytic 0
[ "$(grep -c '"line"' kept)" = 12 ] || fail "the file has no 12 rows"
"$hexrig" "$@" --resume kept | cmp - one || fail "other rows out of the file"
echo "ok analytic rows"

# --- who is lost
one_over() { grep -l '"over"' heavy.rank0 heavy.rank1 >over 2>/dev/null; }
heavy="density --geometry qwen3-4b --density per-vector --rows counted --basis vht2 --csv --resume heavy"
"$hexrig" ${heavy% --resume heavy} --pos 0 >one
# shellcheck disable=SC2086
start OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE 2 "$hexrig" $heavy --pos 0,600
until_true one_over
# the other rank is at position 600: the end of the one that is not over, which of rank 0 is a child
if grep -q heavy.rank0 over; then
    lost=1
    kill -9 "${pids##* }"
else
    lost=0
    zero=${pids% *}
    # shellcheck disable=SC2046 # one process
    kill -9 $(cat /proc/${zero# }/task/${zero# }/children)
fi
finish
case $got in
" 1 "*) ;;
*) fail "a lost rank: status$got" ;;
esac
grep -q "^hexrig density: rank $lost of 2 has ended too early: 1 of 2 rows; the same command goes on from heavy$" err.0 ||
    fail "no lost rank"
# shellcheck disable=SC2086
"$hexrig" $heavy --pos 0 | cmp - one || fail "other rows after a lost rank"
left
echo "ok a lost rank"

has_a_row() { grep -q '"row"' heavy heavy.rank0 heavy.rank1 2>/dev/null; }
kill_all() { # as mpirun does: SIGNAL
    rm -f heavy
    # shellcheck disable=SC2086
    start PMI_RANK PMI_SIZE 2 "$hexrig" $heavy --pos 0,600
    until_true has_a_row
    # shellcheck disable=SC2086
    kill "-$1" $pids 2>/dev/null || true # rank 1 may have ended, which leaves position 600 to rank 0
    finish
}
kill_all KILL
# shellcheck disable=SC2086
"$hexrig" $heavy --pos 0 2>err.0 | cmp - one || fail "other rows after all ranks were killed"
[ "$(grep -c '"pos":0' heavy)" = 1 ] || fail "the row is not in the file once"
left
echo "ok killed ranks"

kill_all INT
[ "$got" = " 130 130" ] || [ "$got" = " 130 0" ] || fail "interrupted: status$got"
grep -q "^hexrig density: interrupted: [01] of 2 rows; the same command goes on from heavy$" err.0 || fail "nothing said"
# shellcheck disable=SC2086
"$hexrig" $heavy --pos 0 2>err.0 | cmp - one || fail "other rows after an interrupt"
left
echo "ok an interrupt"

# --- what cannot be
# two sweeps in one folder that no launcher tells apart
# shellcheck disable=SC2086
start PMI_RANK PMI_SIZE 2 "$hexrig" ${heavy% --resume heavy} --pos 0,600
both_began() { [ "$(find . -name '.hexrig-density-*.rank[01]' | wc -l)" = 2 ]; }
until_true both_began
PMI_RANK=0 PMI_SIZE=2 "$hexrig" density --pos 1 --density queue >out 2>err.9 && fail "two sweeps with the same files"
grep -q '^hexrig density: .hexrig-density-.*.ranks: another sweep is at work with these files; --resume FILE names others$' err.9 ||
    fail "not refused: $(cat err.9)"
# shellcheck disable=SC2086
kill -TERM $pids 2>/dev/null || true
finish
[ "$got" = " 143 143" ] || [ "$got" = " 143 0" ] || fail "interrupted: status$got"
left
refused() { # refused STATUS TEXT VARIABLE... : of `hexrig density --pos 1 --density queue`
    want=$1 text=$2 rc=0
    shift 2
    env "$@" "$hexrig" density --pos 1 --density queue --resume none/f >out 2>err.0 || rc=$?
    [ "$rc" = "$want" ] || fail "status $rc: $*"
    grep -qF "hexrig density: $text" err.0 || fail "not said: $text"
}
refused 2 "OMPI_COMM_WORLD_RANK is '2'; legal: 0 to 1" OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=2
refused 2 "PMI_SIZE is 'x'; legal: 1 to 4096" PMI_RANK=0 PMI_SIZE=x
refused 2 "PMIX_RANK is '0', and no OMPI_COMM_WORLD_SIZE, PMI_SIZE or SLURM_NTASKS says of how many" PMIX_RANK=0
refused 1 "--resume: none/f: No such file or directory" PMI_RANK=0 PMI_SIZE=2
"$hexrig" density --pos 1 --density queue --csv >one
# a script of sbatch is no rank
SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=4 "$hexrig" density --pos 1 --density queue --csv | cmp - one || fail "sbatch"
echo "ok refusals"

# --- mpirun
command -v mpirun >/dev/null || {
    echo "skip: mpirun: there is none (package openmpi-bin)"
    exit 0
}
export OMPI_MCA_orte_tmpdir_base="$dir" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
set -- density --density batched,queue --pos 1,4 --sweep profile=s22u-577,s22u-sync
for form in "" --csv --json; do
    # shellcheck disable=SC2086
    "$hexrig" "$@" $form >one
    # shellcheck disable=SC2086
    timeout 600 mpirun --oversubscribe -np 3 "$hexrig" "$@" $form >out 2>err.0 || fail "mpirun: status $?"
    cmp one out || fail "mpirun: other rows"
    grep -q '^hexrig density: 3 ranks: 8 rows of ' err.0 || fail "mpirun: no speed-up"
    left
done
echo "ok mpirun"

# a rank that is killed takes the others along; Ctrl-C ends all of them: what was done is there
"$hexrig" ${heavy% --resume heavy} --pos 0 >one
for how in rank mpirun; do
    rm -f heavy
    # shellcheck disable=SC2086
    mpirun --oversubscribe -np 2 "$hexrig" $heavy --pos 0,600 >out 2>err.0 &
    pids=$!
    until_true has_a_row
    # shellcheck disable=SC2046 # its last child
    case $how in
    rank) kill -9 $(sed 's/ *$//; s/.* //' "/proc/$pids/task/$pids/children") ;;
    *) kill -INT "$pids" ;;
    esac
    finish
    [ "$got" != " 0" ] || fail "mpirun: status 0 for a lost $how"
    # shellcheck disable=SC2086
    "$hexrig" $heavy --pos 0 2>err.0 | cmp - one || fail "mpirun: other rows after a lost $how"
    left
done
echo "ok mpirun that was ended"
