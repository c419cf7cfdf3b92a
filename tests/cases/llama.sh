#!/bin/sh
# llama.cpp's Hexagon backend, where its sources are (`hexrig llama --build` fetches them): the compiler takes one of its op files; and where
# it is built, F16 tokens are those of its CPU backend, every run has the same figures, and some 50 op cases pass.
# Usage: llama.sh BUILD
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
unset HEXRIG_DEVICE HEXRIG_LIBEXEC HEXRIG_FARF DSP_LIBRARY_PATH ADSP_LIBRARY_PATH LD_LIBRARY_PATH HEXRIG_CFLAGS HEXRIG_CC HEXRIG_CXX
llama=${HEXRIG_LLAMA:-${XDG_CACHE_HOME:-$HOME/.cache}/hexrig/llama}
[ -d "$llama/llama.cpp/ggml" ] || { echo "skip: no sources of llama.cpp in $llama: hexrig llama --build"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_RUNTIME_DIR="$dir" TMPDIR="$dir"
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
cmp "$dir/first" "$dir/second"
sed -n 's/^per packet: .* exec_us=//p' "$dir/first" | awk '{ exit !($1 > 0) }'
echo "ok tokens and figures"
run --ops='SQR|SCALE|SUM_ROWS|CONCAT' >"$dir/ops" || { cat "$dir/ops"; exit 1; }
tail -n 1 "$dir/ops"
