#!/bin/sh
# make bench-peer: prefill and decode tokens per second of this engine over llama.cpp's, same files, same threads, run by
# turns.  The peer is the library in $HEXRIG_LLAMA_DIR, else npm's node-llama-cpp, installed below BUILD/peer.  The random models
# (about 0.5 GB each) are made there, too.  Exit 77: no peer.
# Usage: run.sh BUILD.  ROUNDS (3), THREADS ("1 2") and MODELS ("f16 q8_0 q4_k tiny-f16 tiny-q8_0") may be set.
set -eu
build=$(cd "$1" && pwd)
src=$(cd "$(dirname "$0")/../.." && pwd)
peer=$build/peer
rounds=${ROUNDS:-3}
mkdir -p "$peer"

skip() {
    echo "bench-peer: skipped: $*"
    exit 77
}

install_peer() {
    command -v npm >/dev/null || skip "no npm, and HEXRIG_LLAMA_DIR is not set"
    echo "bench-peer: npm install node-llama-cpp in $peer" >&2
    (cd "$peer" && npm init -y && timeout 600 npm install node-llama-cpp --ignore-scripts) >"$peer/npm.log" 2>&1 ||
        skip "npm could not install node-llama-cpp, see $peer/npm.log"
}

case $(uname -m) in
x86_64) platform=linux-x64 ;;
*) skip "peer_llama calls the library as x86-64 does; this is $(uname -m)" ;;
esac
dir=${HEXRIG_LLAMA_DIR:-$peer/node_modules/@node-llama-cpp/$platform/bins/$platform}
[ -d "$dir" ] || [ -n "${HEXRIG_LLAMA_DIR:-}" ] || install_peer
# names carry a version; in the order in which they need each other
libs=
for name in libggml-base libggml libllama; do
    lib=$(find "$dir" -maxdepth 1 -name "$name.so*" -o -maxdepth 1 -name "$name.v*.so" | sort | head -n 1)
    [ -n "$lib" ] || skip "no $name in $dir"
    libs="$libs $lib"
done

for type in f16 q8_0 q4_k; do
    [ -f "$peer/$type.gguf" ] || "$peer/make_model" $type "$src/host/data/hexrig-tiny-q8_0.gguf" "$peer/$type.gguf"
done
path_of() {
    case $1 in
    tiny-f16) echo "$src/tests/data/hexrig-tiny-f16.gguf" ;;
    tiny-q8_0) echo "$src/host/data/hexrig-tiny-q8_0.gguf" ;;
    *) echo "$peer/$1.gguf" ;;
    esac
}
# tokens of prefill, of decode, runs
work_of() {
    case $1 in
    tiny-*) echo 512 128 5 ;;
    *) echo 256 32 2 ;;
    esac
}

ours() { # MODEL THREADS PREFILL DECODE RUNS
    timeout 600 "$build/bin/hexrig" bench engine -m "$1" --threads "$2" --prefill "$3" --decode "$4" --runs "$5"
}
theirs() {
    # shellcheck disable=SC2086
    timeout 600 "$peer/peer_llama" "$dir" "$1" "$2" "$3" "$4" "$5" $libs
}
# the best of all rounds of figure $2 in file $1
best() { sed -n "s/^$2=//p" "$1" | sort -g | tail -n 1; }

missed=$peer/missed
: >"$missed"
printf '%-10s %-8s %7s %12s %12s %7s\n' model phase threads hexrig llama.cpp ratio
for model in ${MODELS:-f16 q8_0 q4_k tiny-f16 tiny-q8_0}; do
    for threads in ${THREADS:-1 2}; do
        : >"$peer/ours"
        : >"$peer/theirs"
        for round in $(seq "$rounds"); do
            # shellcheck disable=SC2046
            ours "$(path_of $model)" "$threads" $(work_of $model) >>"$peer/ours"
            # shellcheck disable=SC2046
            theirs "$(path_of $model)" "$threads" $(work_of $model) >>"$peer/theirs" 2>"$peer/theirs.log" || {
                cat "$peer/theirs.log" >&2
                [ "$round" -gt 1 ] || skip "the peer failed on $model"
            }
        done
        for phase in prefill decode; do
            echo "$model $phase $threads $(best "$peer/ours" $phase.tok_per_s) $(best "$peer/theirs" $phase.tok_per_s)" |
                awk -v missed="$missed" '{ r = $4 / $5
                    printf "%-10s %-8s %7d %12.1f %12.1f %6.2fx\n", $1, $2, $3, $4, $5, r
                    if (r < 1) printf "  %s %s, threads %d: %.2fx\n", $1, $2, $3, r >>missed }'
        done
    done
done
if [ -s "$missed" ]; then
    echo "below the aim of 1.00x:"
    cat "$missed"
else
    echo "all at or above the aim of 1.00x"
fi
