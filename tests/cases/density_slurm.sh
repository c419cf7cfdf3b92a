#!/bin/sh
# hexrig density --slurm: the script's tasks and its merge print the rows of one process; a task that was killed; what is refused.  A
# stand-in for Slurm sets what it sets.  Usage: density_slurm.sh BUILD
set -eu
build=$(cd "$1" && pwd)
hexrig=$build/bin/hexrig
unset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE PMIX_RANK SLURM_PROCID SLURM_NTASKS SLURM_JOB_ID SLURM_STEP_ID
dir=$(mktemp -d)
export XDG_RUNTIME_DIR="$dir"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

fail() {
    echo "density_slurm: $*" >&2
    exit 1
}
task() { # task I: as slurmd starts it, on a node that gives it four processors
    env SLURM_JOB_ID=$((100 + $1)) SLURM_ARRAY_JOB_ID=100 SLURM_ARRAY_TASK_ID="$1" SLURM_PROCID=0 SLURM_NTASKS=4 sh script.sh
}

file="it's a sweep" # a name that wants quotes
for form in "" --csv --json; do
    set -- --density batched,queue --pos 1,4 --sweep profile=s22u-577,s22u-sync
    # shellcheck disable=SC2086 # may be no word
    "$hexrig" density "$@" $form >one
    # shellcheck disable=SC2086
    "$hexrig" density "$@" $form --resume "$file" --slurm >script.sh
    sh -n script.sh
    ! command -v shellcheck >/dev/null || shellcheck script.sh || fail "shellcheck"
    grep -q '^#SBATCH --array=0-7$' script.sh || fail "no array of 8"
    for i in 7 2 0 1 3 4 6 5; do
        task $i >out 2>&1 || fail "task $i: $(cat out)"
        [ ! -s out ] || fail "task $i printed: $(cat out)"
    done
    [ "$(cat "$file".rank[0-7] | grep -c '"line"')" = 8 ] || fail "the tasks have not 8 rows"
    sh script.sh merge >out || fail "merge: status $?"
    cmp one out || fail "other rows $form"
    [ "$(ls "$file"*)" = "$file" ] || fail "left: $(ls)"
    sh script.sh merge | cmp - one || fail "other rows the second time"
    rm "$file"
done
echo "ok the same rows"

# a task that never ran and one that was cut off are the merge's; one that is done has nothing left to do
task 1
task 2
task 2
[ "$(grep -c '"line"' "$file.rank2")" = 1 ] || fail "task 2 has measured twice"
printf '{"key"' >>"$file.rank1"
sh script.sh merge | cmp - one || fail "other rows without tasks"
rm "$file"
echo "ok lost tasks"

# rows of one density that share what is counted are one task
set -- --geometry 2x2x64 --density batched,queue --pos 1,300,400,500 --rows analytic --csv
"$hexrig" density "$@" >one
"$hexrig" density "$@" --resume far --slurm >script.sh
grep -q '^#SBATCH --array=0-3$' script.sh || fail "no array of 4"
for i in 0 1 2 3; do task $i; done
[ "$(grep -c '"line"' far.rank1)" = 3 ] || fail "analytic rows are apart"
sh script.sh merge | cmp - one || fail "other analytic rows"
echo "ok analytic rows"

# a row that fails is its task's failure, and the merge's
"$hexrig" density --density batched --pos 1,5000 --csv --resume fails --slurm >script.sh
task 0
task 1 2>err && fail "a row beyond the context"
grep -q "^hexrig density: batched@5000: position 5000: the model's context is" err || fail "no reason: $(cat err)"
sh script.sh merge >out 2>err && fail "a merge without a row"
[ "$(wc -l <out)" = 2 ] || fail "not the other row"
rc=0
sh script.sh zork 2>err || rc=$?
[ "$rc" = 2 ] && grep -q "unknown step 'zork'; legal: task, merge" err || fail "another step: $rc $(cat err)"
echo "ok failures"

refused() { # refused TEXT WORD...
    text=$1 rc=0
    shift
    "$hexrig" density --pos 1 "$@" >out 2>err || rc=$?
    [ "$rc" = 2 ] && [ ! -s out ] && grep -qF -- "$text" err || fail "status $rc: $*: $(cat err)"
}
refused "--slurm needs --resume FILE, beside which rows are left" --slurm
refused "--part needs --resume FILE, beside which rows are left" --part 0/2
refused "--slurm and --part exclude each other" --slurm --part 0/2 --resume f
refused "--slurm twice" --slurm --resume f --slurm
refused "--csv and --json exclude each other" --slurm --resume f --csv --json
refused "--kv: unknown value 'zork'" --slurm --resume f --kv zork
for part in 2/2 1 /2 1/ -1/2 0/0 0/2x 0/5000; do
    refused "--part: '$part' is no I/N with N from 1 to 4096 and I from 0 to N - 1" --part "$part" --resume f
done
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2
export OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE
refused "--slurm is one process, not one of 2 ranks" --slurm --resume f
refused "--part is one process, not one of 2 ranks" --part 0/2 --resume f
[ ! -e f ] || fail "a file of a sweep that was refused"
echo "ok refusals"
