#!/bin/sh
# hexrig --crt-shard as two MPI ranks: the same figures and tokens as one process and as two without MPI, one report, and what cannot
# be is refused.  Skipped without mpirun or the plugin.  Usage: mpi.sh BUILD
set -eu
build=$(cd "$1" && pwd)
hexrig=$build/bin/hexrig
text=$build/share/hexrig/books-holdout.txt
unset OMPI_COMM_WORLD_SIZE PMI_SIZE
command -v mpirun >/dev/null || {
    echo "skip: no mpirun (package openmpi-bin)"
    exit 77
}
[ -f "$build/libexec/hexrig/hexrig-mpi.so" ] || {
    echo "skip: no hexrig-mpi.so: built without mpicc (package libopenmpi-dev)"
    exit 77
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
# Open MPI's own files, too; it refuses long paths for its sockets
export OMPI_MCA_orte_tmpdir_base="$dir" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

fail() {
    echo "mpi: $*" >&2
    sed 's/^/      /' out err >&2
    exit 1
}
ranks() { # ranks STATUS N COMMAND...
    want=$1 n=$2 got=0
    shift 2
    timeout 600 mpirun --oversubscribe --mca btl self,vader -np "$n" "$@" >out 2>err || got=$?
    [ "$got" = "$want" ] || fail "exit status $got, not $want: $*"
}
figure() { # figure KEY FILE
    sed -n "s/^$1=//p" "$2"
}

timeout 120 mpirun --oversubscribe --mca btl self,vader -np 2 true >out 2>err || {
    echo "skip: mpirun cannot start two processes here: $(tail -n 1 err)"
    exit 77
}

set -- ppl -f "$text" --ctx 64 --chunks 2 --kv f32 --poly-attn --ntt-crt
"$hexrig" "$@" >one
"$hexrig" "$@" --crt-shard >two
ranks 0 2 "$hexrig" "$@" --crt-shard
for key in ppl nll; do
    [ -n "$(figure $key one)" ] || fail "one process has no $key"
    [ "$(figure $key one)" = "$(figure $key two)" ] || fail "$key: $(figure $key one), forked $(figure $key two)"
    [ "$(figure $key one)" = "$(figure $key out)" ] || fail "$key: $(figure $key one), MPI $(figure $key out)"
done
[ "$(figure shard.transport two)" = fork ] && [ "$(figure shard.transport out)" = mpi ] || fail "transport"
[ "$(figure shard.words two)" = "$(figure shard.words out)" ] || fail "words"
[ "$(grep -c ^ppl= out)" = 1 ] || fail "two reports"
echo "ok the same perplexity"

set -- run -p "The king was" -n 12 --kv ntt --temp 0.8 --top-k 40 --seed 3
"$hexrig" "$@" >one
ranks 0 2 "$hexrig" "$@" --crt-shard
[ -n "$(figure tokens one)" ] && [ "$(figure tokens one)" = "$(figure tokens out)" ] || fail "other tokens"
[ "$(head -n 1 one)" = "$(head -n 1 out)" ] || fail "another text"
echo "ok the same tokens"

# one rank writes the capture
set -- run -p "The king was" -n 2 --kv f32 --poly-attn --ntt-crt
"$hexrig" "$@" --capture one.hxc >one
ranks 0 2 "$hexrig" "$@" --crt-shard --capture two.hxc
cmp one.hxc two.hxc || fail "another capture"
echo "ok the same capture"

# keys on DSPs: a rig for each rank
export XDG_RUNTIME_DIR="$dir"
set -- ppl -f "$text" --ctx 48 --chunks 2 --kv ntt --offload kv
"$hexrig" "$@" >one
ranks 0 2 "$hexrig" "$@" --crt-shard
[ -n "$(figure ppl one)" ] && [ "$(figure ppl one)" = "$(figure ppl out)" ] || fail "another perplexity with two rigs"
[ "$(figure poly.block_bytes one)" = $((2 * $(figure poly.block_bytes out))) ] || fail "a rig has both primes"
# rigs that people name, where the two are not one
"$hexrig" up --mount "$dir/a" >up && "$hexrig" up --mount "$dir/b" >>up || fail "no rigs: $(cat up)"
end() {
    for rig in a b; do "$hexrig" down --mount "$dir/$rig" || true; done >/dev/null 2>&1
    rm -rf "$dir"
}
trap end EXIT
ranks 0 1 env HEXRIG_DEVICE="$dir/a/fastrpc-cdsp" "$hexrig" "$@" --crt-shard : \
    -np 1 env HEXRIG_DEVICE="$dir/b/fastrpc-cdsp" "$hexrig" "$@" --crt-shard
[ "$(figure ppl one)" = "$(figure ppl out)" ] || fail "another perplexity with two named rigs"
if [ -f a/stats ]; then # of a FUSE rig; both did the same, so that neither did the other's
    grep -q 'invokes=[1-9]' a/stats && cmp a/stats b/stats || fail "rigs with unlike work: $(cat a/stats b/stats)"
fi
"$hexrig" down --mount "$dir/a" >down && "$hexrig" down --mount "$dir/b" >>down || fail "$(cat down)"
trap 'rm -rf "$dir"' EXIT
[ -z "$(ls -d "$dir"/hexrig-* 2>/dev/null)" ] || fail "a rig is left: $(ls "$dir")"
echo "ok two rigs"

set -- ppl --kv ntt --crt-shard --ctx 32 --chunks 1
ranks 1 3 "$hexrig" "$@" -f "$text"
grep -q 'mpirun started 3 ranks; 2 are needed' err || fail "three ranks"
ranks 1 2 "$hexrig" "$@" -f "$dir/none"
[ "$(grep -c "^hexrig ppl: $dir/none: " err)" = 1 ] || fail "a reason, once"
tail -c 20000 "$text" >other
ranks 1 1 "$hexrig" "$@" -f "$text" : -np 1 "$hexrig" "$@" -f other
[ "$(grep -c 'step 0 is of other numbers' err)" = 1 ] || fail "two texts"
ranks 1 1 "$hexrig" "$@" -f "$text" : -np 1 "$hexrig" "$@" -f "$dir/none"
grep -q 'modulo q2 failed' err && grep -q "$dir/none" err || fail "what rank 1 lacks is not named"
echo "ok refusals"

# a rank that dies takes the other one along
timeout 600 mpirun --oversubscribe --mca btl self,vader -np 1 "$hexrig" "$@" -f "$text" : -np 1 \
    sh -c 'kill -9 $$' >out 2>err && fail "one rank is enough"
mkdir bin libexec && cp "$hexrig" bin/ && cp -R "$build/share" . # no plugin
mkdir libexec/hexrig
[ ! -d "$build/lib" ] || cp -R "$build/lib" .
ranks 1 2 bin/hexrig "$@" -f "$text"
grep -q 'there is no .*hexrig-mpi.so: build with MPI (package libopenmpi-dev)' err || fail "no plugin"
echo "ok a lost rank, no plugin"
