#!/bin/sh
# hexrig llama: llama.cpp's own Hexagon backend on a rig.  Sources come with npm's package node-llama-cpp, unmodified; the backend and its
# skel are built by their own CMake files against share/hexrig/sdk.  docs/ggml-hexagon.md is the manual.
#
# Usage: llama.sh build | run | ops.  What `hexrig llama` sets: HX_PREFIX, HX_DIR (where all of this lies), HX_MODEL, HX_PROMPT or HX_PROMPTS
# (a file), HX_TOKENS, HX_PROFILE, HX_CPU (1: compare with llama.cpp's CPU), HX_TRACE (a file), HX_OPS and HX_PARAMS (filters of ops).
set -eu
prefix=$HX_PREFIX dir=$HX_DIR
sdk=$prefix/share/hexrig/sdk
own=$prefix/share/hexrig/llama
src=$dir/llama.cpp out=$dir/build lib=$dir/lib
skels=$out/ggml/src/ggml-hexagon
log=$dir/build.log

fail() {
    echo "hexrig llama: $*" >&2
    exit 1
}
say() {
    echo "hexrig llama: $*" >&2
}

# --- sources and build ---------------------------------------------------------------------------------------------------
# The package has the sources, and libllama with the CPU backend as they are built from them.
fetch() {
    [ ! -d "$src/ggml" ] || return 0
    for tool in npm git cmake; do
        command -v $tool >/dev/null || fail "no $tool, which fetching and building llama.cpp takes"
    done
    case $(uname -m) in
    x86_64) platform=linux-x64 ;;
    aarch64) platform=linux-arm64 ;;
    *) fail "npm has no llama.cpp for $(uname -m)" ;;
    esac
    rm -rf "$dir/npm" "$src.part" "$lib"
    mkdir -p "$dir/npm" "$lib"
    say "npm install node-llama-cpp in $dir/npm"
    (cd "$dir/npm" && npm init -y && timeout 900 npm install node-llama-cpp --ignore-scripts) >"$log" 2>&1 ||
        fail "npm could not fetch node-llama-cpp, is there a network? See $log"
    modules=$dir/npm/node_modules
    mv "$modules/@node-llama-cpp/$platform/bins/$platform"/*.so "$lib/"
    # the name by which what is built here asks for it: one library, not two
    ln -s libggml-base.so "$lib/libggml-base.so.0"
    git clone -q "$modules/node-llama-cpp/llama/gitRelease.bundle" "$src.part" >>"$log" 2>&1 || fail "see $log"
    rm -rf "$dir/npm"
    mv "$src.part" "$src"
}

# g++ has no __fp16 on x86, and the host's side asks only how many bytes it has
configure() {
    half=
    [ "$(uname -m)" != x86_64 ] || half=-D__fp16=short
    cmake -S "$src" -B "$out" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="$half" -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" \
        -DBUILD_SHARED_LIBS=ON -DGGML_BACKEND_DL=ON -DGGML_CPU=OFF -DGGML_NATIVE=OFF -DGGML_HEXAGON=ON -DGGML_CCACHE=OFF \
        -DLLAMA_BUILD_COMMON=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_SERVER=OFF \
        -DHEXAGON_SDK_ROOT="$sdk" -DHEXAGON_TOOLS_ROOT="$sdk/tools" -DPREBUILT_LIB_DIR=linux_x86_64 >>"$log" 2>&1 ||
        fail "cmake of llama.cpp failed, see $log"
}

# backend and skel; matmul-ops.c takes gcc minutes, and with -O2 many of them
backend() {
    HEXRIG_CFLAGS=-O1 nice cmake --build "$out" --parallel "${JOBS:-2}" --target ggml-hexagon htp-v73 >>"$log" 2>&1 ||
        fail "the backend could not be built, see $log"
    cp "$out/bin/libggml-hexagon.so" "$lib/"
    cp "$skels/libggml-htp-v73.so" "$lib/"
}

program() { # COMPILER SOURCE NAME OPTION...
    compiler=$1 source=$2 name=$3
    shift 3
    [ "$lib/$name" -nt "$source" ] ||
        nice "$compiler" -O1 -I"$src/include" -I"$src/ggml/include" "$source" -o "$lib/$name" "$@" -Wl,-rpath,"$lib" -lpthread >>"$log" 2>&1 ||
        fail "$name could not be built, see $log"
}

build() {
    fetch
    [ -e "$dir/built" ] || {
        say "building in $dir, which takes some minutes; what the compiler says is in $log"
        configure
        backend
    }
    ggml="$lib/libggml-base.so $(find "$lib" -name 'libggml.*so')"
    # shellcheck disable=SC2086
    program cc "$own/generate.c" llama_generate "$(find "$lib" -name 'libllama.*so')" $ggml
    # shellcheck disable=SC2086
    program c++ "$src/tests/test-backend-ops.cpp" test-backend-ops $ggml
    program cc "$own/arm_division.c" libarm_division.so -shared -fPIC
    : >"$dir/built"
}

# --- a run ----------------------------------------------------------------------------------------------------------------
on_rig() { # REPORT COMMAND...
    report=$1
    shift
    DSP_LIBRARY_PATH=$lib LD_LIBRARY_PATH=$lib "$prefix/bin/hexrig" run-with --library --profile "$HX_PROFILE" --report="$report" -- \
        env LD_PRELOAD="$lib/libarm_division.so" "$@"
}
generate() { # DEVICE [RUN-WITH...]: tokens and texts
    device=$1
    shift
    "$@" "$lib/llama_generate" "$lib" "$HX_MODEL" "$device" "$HX_TOKENS" "$prompts"
}

same_as_cpu() {
    generate CPU >"$work/cpu" 2>"$work/cpu.log" ||
        fail "llama.cpp failed on the CPU: $(tail -n 1 "$work/cpu.log")"
    grep '^tokens=' "$work/cpu" >"$work/cpu.tokens"
    grep '^tokens=' "$work/htp" >"$work/htp.tokens"
    paste "$work/htp.tokens" "$work/cpu.tokens" | awk -F '\t' '
        $1 == $2 { same++ }
        $1 != $2 { n = split($1, a, ","); split($2, b, ","); for (i = 1; i <= n && a[i] == b[i]; i++) { }
                   print "prompt " NR ": differs from the CPU at token " i }
        END { print "same_as_cpu=" same + 0 "/" NR; exit (same != NR) }'
}

run() {
    rc=0
    export GGML_HEXAGON_PROFILE=1
    generate HTP0 on_rig "$work/rig" >"$work/htp" 2>"$work/log" || { grep -v profile-op "$work/log" | tail -n 5 >&2; fail "llama.cpp failed on the rig"; }
    sed -n 's/^text=//p' "$work/htp"
    awk -v profile="$HX_PROFILE" -f "$own/report.awk" "$work/htp" "$work/rig" "$work/log"
    [ -z "$HX_TRACE" ] || awk -f "$own/trace.awk" "$work/log" >"$HX_TRACE"
    [ "$HX_CPU" != 1 ] || same_as_cpu || rc=1
    return $rc
}

# --- op by op --------------------------------------------------------------------------------------------------------------
# one process per op, as one that dies must not take the others along
ops_of() {
    "$lib/test-backend-ops" --list-ops 2>/dev/null | sed -n 's/^ *\([A-Z][A-Z0-9_]*\)$/\1/p' | grep -Ex "$HX_OPS" || :
}
run_op() { # OP
    rc=0
    on_rig "$work/rig" "$lib/test-backend-ops" test -b HTP0 -o "$1" ${HX_PARAMS:+-p "$HX_PARAMS"} >"$work/op" 2>"$work/op.log" || rc=$?
    sed 's/\x1b\[[0-9;]*m//g' "$work/op" >>"$dir/ops.log"
    sed 's/\x1b\[[0-9;]*m//g' "$work/op" | awk -v op="$1" -v rc=$rc '
        /^  [A-Z].*\): OK$/ { ok++ }
        /\): FAIL/ { fail++ }
        /not supported/ { unsupported++ }
        END { if (ok + fail || rc > 1)
                  printf "%-20s %6d %6d %6d %s\n", op, ok, fail, unsupported, (rc > 1 ? "ended with " rc : "")
              exit (fail > 0 || rc > 1) }'
}
ops() {
    bad=0
    : >"$dir/ops.log"
    : >"$work/ops"
    echo "op                       ok   fail   not supported by the backend"
    for op in $(ops_of); do
        run_op "$op" >"$work/line" || bad=1
        tee -a "$work/ops" <"$work/line"
    done
    awk '{ ok += $2; fail += $3; no += $4; ops++; died += NF > 4 }
         END { printf "ops=%d ok=%d fail=%d not_supported=%d died=%d\n", ops, ok, fail, no, died }' "$work/ops"
    say "every case is in $dir/ops.log"
    return $bad
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prompts=$HX_PROMPTS
[ -n "$prompts" ] || {
    prompts=$work/prompts
    printf '%s\n' "$HX_PROMPT" >"$prompts"
}
build
[ "$1" = build ] || "$1"
