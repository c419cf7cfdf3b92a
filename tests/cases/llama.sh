#!/bin/sh
# llama.cpp's Hexagon backend: what runs it divides by 0 as Arm does; where its sources are (`hexrig llama --build` fetches them) the compiler
# takes one of its op files; and where it is built, F16 tokens are those of its CPU backend, every run has the same counts, and some 50 op
# cases pass.
# Usage: llama.sh BUILD
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
unset HEXRIG_DEVICE HEXRIG_LIBEXEC HEXRIG_FARF DSP_LIBRARY_PATH ADSP_LIBRARY_PATH LD_LIBRARY_PATH HEXRIG_CFLAGS HEXRIG_CC HEXRIG_CXX
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_RUNTIME_DIR="$dir" TMPDIR="$dir"

# what its host part divides by 0 is 0, as on a phone
if [ "$(uname -m)" = x86_64 ]; then
    ${CC:-cc} -O1 -Wall -Werror "$src/tests/llama/division.c" "$src/tools/llama/arm_division.c" -o "$dir/division"
    "$dir/division" >"$dir/divided"
    printf '0 7\n0 7696581394432\n0 -5\n0 -7\n0 0\n' | diff - "$dir/divided"
    ("$dir/division" too large) >/dev/null 2>&1 && exit 1
    echo "ok a division by 0 is 0"
fi

llama=${HEXRIG_LLAMA:-${XDG_CACHE_HOME:-$HOME/.cache}/hexrig/llama}
[ -d "$llama/llama.cpp/ggml" ] || { echo "skip: no sources of llama.cpp in $llama: hexrig llama --build"; exit 77; }
sdk=$build/share/hexrig/sdk
htp=$llama/llama.cpp/ggml/src/ggml-hexagon/htp

"$sdk/ipc/fastrpc/qaic/bin/qaic" -mdll "$htp/htp_iface.idl" -o "$dir"
"$sdk/tools/Tools/bin/hexagon-clang" -mv73 -mhvx=v73 -mhmx -O1 -Wall -Werror -DNDEBUG -I"$dir" -I"$htp" -I"$htp/.." -I"$htp/../.." \
    -I"$htp/../../../include" -c "$htp/sum-rows-ops.c" -o "$dir/sum-rows-ops.o" 2>"$dir/err" || { cat "$dir/err"; exit 1; }
echo "ok an op file compiles"
[ -e "$llama/built" ] || { echo "skip: $llama is not built: hexrig llama --build"; exit 77; }

run() {
    "$build/bin/hexrig" llama --dir "$llama" "$@"
}
run -m "$src/tests/data/hexrig-tiny-f16.gguf" -n 6 --cpu >"$dir/first" || { cat "$dir/first"; exit 1; }
grep -qx 'same_as_cpu=1/1' "$dir/first"
run -m "$src/tests/data/hexrig-tiny-f16.gguf" -n 6 --cpu >"$dir/second"
# counts and times are the same in every run; of single ops llama.cpp rounds to whole microseconds, by where a packet began
counts() {
    sed 's/ profiler_us=[0-9.]*//' "$1" | awk '/^op /{ ops = 1 } { if (ops && NF == 5) print $1, $2; else if (!ops) print }' | LC_ALL=C sort
}
counts "$dir/first" >"$dir/first.counts"
counts "$dir/second" | diff "$dir/first.counts" -
grep -q ' exec_us=[1-9]' "$dir/first.counts"
echo "ok tokens and figures"
run --ops='SQR|SCALE|SUM_ROWS|CONCAT' >"$dir/ops" || { cat "$dir/ops"; exit 1; }
tail -n 1 "$dir/ops"
