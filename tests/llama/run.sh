#!/bin/sh
# make check-llama: llama.cpp's own Hexagon backend on a rig, fetched and built where `hexrig llama` does.  F16 tokens of 20 prompts are those
# of its CPU backend, 48 each; those of q8_0 are compared and told; test-backend-ops of every op has no failure but of the ops that
# differ.txt explains.  An hour or more.  Exit 77: it cannot be fetched.
# Usage: run.sh BUILD
set -eu
build=$(cd "$1" && pwd)
src=$(cd "$(dirname "$0")/../.." && pwd)
own=$src/tests/llama
unset HEXRIG_DEVICE HEXRIG_LIBEXEC HEXRIG_FARF DSP_LIBRARY_PATH ADSP_LIBRARY_PATH LD_LIBRARY_PATH
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_RUNTIME_DIR="$dir"
bad=0
llama() {
    "$build/bin/hexrig" llama "$@"
}

llama --build || { echo "check-llama: skipped: no llama.cpp"; exit 77; }
echo "F16, 20 prompts:"
llama -m "$src/tests/data/hexrig-tiny-f16.gguf" --prompts "$own/prompts.txt" -n 48 --cpu >"$dir/f16" || bad=1
sed -n '/^profile=/,$p' "$dir/f16"
echo "q8_0, 20 prompts:"
llama --prompts "$own/prompts.txt" -n 48 --cpu >"$dir/q8" || :
sed -n '/^profile=/,$p' "$dir/q8"
grep -q '^same_as_cpu=' "$dir/q8" || bad=1

llama --ops | tee "$dir/ops" || :
tail -n 1 "$dir/ops" | grep -q '^ops=' || bad=1
awk 'NR == FNR { if (!/^#/) why[$1] = substr($0, length($1) + 2); next }
     $3 + 0 == 0 && NF <= 4 || $1 == "op" || /^ops=/ { next }
     $1 in why { print $1 ": " why[$1]; next }
     { print $1 ": not explained"; bad = 1 }
     END { exit bad }' "$own/differ.txt" "$dir/ops" || bad=1
exit $bad
