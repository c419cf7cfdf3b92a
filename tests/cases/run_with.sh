#!/bin/sh
# Programs that open /dev/fastrpc-cdsp themselves get shared memory: by hexrig run-with and by the preload helper; without
# these the driver says what to do.  However a launcher ends, nothing is left.  Usage: run_with.sh [BUILD]
set -u
build=$(cd "${1:-build}" && pwd) || exit 1
hexrig=$build/bin/hexrig
client=$build/tests/run_with_client
static=$client-static
preload=$build/lib/libhexrig-preload.so
if ! [ -r /dev/fuse ] || ! [ -w /dev/fuse ] || ! command -v fusermount3 >/dev/null; then
    echo "run-with: skipped: /dev/fuse cannot be opened, or fusermount3 is missing"
    exit 77
fi
dir=$(mktemp -d) || exit 1
export XDG_RUNTIME_DIR="$dir/run" DSP_LIBRARY_PATH="$build/tests"
unset HEXRIG_DEVICE LD_PRELOAD
mkdir -m 700 "$XDG_RUNTIME_DIR"
pids=
cleanup() {
    trap - EXIT
    for p in $pids; do kill -9 "$p" 2>/dev/null; done
    [ "${rig:-0}" -le 1 ] || kill -CONT "$rig" 2>/dev/null # in case a test stopped it and broke down
    "$hexrig" down 2>/dev/null
    "$hexrig" down --mount "$dir/sock" 2>/dev/null
    rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

failed=0
fail() {
    echo "FAIL $*"
    sed 's/^/  | /' "$dir/out"
    failed=1
}
# run WANTED-STATUS TITLE COMMAND...: output in $dir/out
run() {
    want=$1 title=$2
    shift 2
    timeout -k 5 300 "$@" >"$dir/out" 2>&1
    got=$?
    if [ $got = "$want" ]; then echo "ok   $title"; else fail "$title: exit $got, not $want"; fi
}
says() { # of the last run
    grep -q -- "$1" "$dir/out" || fail "$title: does not say '$1'"
}

all="buff heap sizes fds threads spellings child"
[ -e /sys/class/remoteproc/remoteproc0 ] || all="$all name"
node=$XDG_RUNTIME_DIR/hexrig/fastrpc-cdsp

# --- beside a rig that runs
"$hexrig" up >"$dir/out" || { fail "hexrig up"; exit 1; }
rig=$(sed -n 's/^pid=//p' "$dir/out")
run 0 "bare: the driver refuses" "$client" "$node" refused
grep -q "ALLOC_DMA_BUFF of 5000 bytes.*hexrig run-with" "$XDG_RUNTIME_DIR/hexrig.log" ||
    { cp "$XDG_RUNTIME_DIR/hexrig.log" "$dir/out"; fail "its log names hexrig run-with"; }
[ -e /dev/fastrpc-cdsp ] || run 1 "bare: there is no /dev/fastrpc-cdsp" "$client" /dev/fastrpc-cdsp buff
run 0 "LD_PRELOAD by hand" env LD_PRELOAD="$preload" "$client" /dev/fastrpc-cdsp $all
run 0 "LD_PRELOAD, the rig's own path" env LD_PRELOAD="$preload" "$client" "$node" buff
run 0 "HEXRIG_DEVICE is told" "$hexrig" run-with -- sh -c 'echo "<$HEXRIG_DEVICE>"'
says "<$node>"
for how in --seccomp --preload; do
    run 0 "$how: dynamic client" "$hexrig" run-with $how -- "$client" /dev/fastrpc-cdsp $all
    run 0 "$how: calls do not pass the launcher" "$hexrig" run-with $how -- "$client" /dev/fastrpc-cdsp stopped
done
run 0 "--preload: a program for Qualcomm's own kernels" "$hexrig" run-with --preload -- "$build/tests/run_with_msm_client"
run 0 "LD_PRELOAD by hand: the same" env LD_PRELOAD="$preload" "$build/tests/run_with_msm_client"
run 1 "the same on Linux's node" "$hexrig" run-with --preload -- "$build/tests/run_with_msm_client" "$node"
says "GETINFO: Inappropriate ioctl"
grep -q "GETINFO (0xc0045208) is an ioctl of Qualcomm's own kernels" "$XDG_RUNTIME_DIR/hexrig.log" ||
    { cp "$XDG_RUNTIME_DIR/hexrig.log" "$dir/out"; fail "the rig's log tells whose ioctl that is"; }
run 0 "--seccomp: static client" "$hexrig" run-with -- "$static" /dev/fastrpc-cdsp $all stopped
run 1 "--preload: static client" "$hexrig" run-with --preload -- "$static" /dev/fastrpc-cdsp buff
if command -v setpriv >/dev/null && [ "$(id -u)" = 0 ]; then
    run 0 "--seccomp: no capability is needed" setpriv --bounding-set=-all --inh-caps=-all "$hexrig" run-with -- \
        "$static" /dev/fastrpc-cdsp $all
fi
run 0 "--seccomp: the rig's own path" "$hexrig" run-with -- "$static" "$node" buff
run 0 "what the program leaves behind is served, too" "$hexrig" run-with -- "$static" /dev/fastrpc-cdsp orphan
says "orphan done"
if [ "${rig:-0}" -gt 1 ]; then
    run 0 "a stopped rig does not stop other files" "$hexrig" run-with -- sh -c "
        kill -STOP $rig; $client /dev/fastrpc-cdsp buff & sleep 0.3
        timeout 100 cat /dev/null && echo alive; kill -CONT $rig; wait \$!"
    says alive
else
    fail "the rig's pid is unknown"
fi
run 1 "one launcher in another" "$hexrig" run-with -- "$hexrig" run-with -- true
says "try --preload"
run 0 "--preload in a launcher" "$hexrig" run-with -- "$hexrig" run-with --preload -- "$client" /dev/fastrpc-cdsp buff
# --- what it tells
run 0 "--report: calls of a static client" "$hexrig" run-with --report -- "$static" /dev/fastrpc-cdsp buff
says "^hxt\.11  *1 "
says "^remotectl1\.open1  *1 "
says "^total  *2 "
line="[0-9]*"
command -v addr2line >/dev/null || line=
run 0 "a crash, of a client without a library" "$hexrig" run-with -- "$static" /dev/fastrpc-cdsp crash
says "^hexrig run-with: crash: SIGILL.*${line:+, in crash() at hxt_skel.c:$line}, libhxt_skel.so, hxt method 5$"
run 0 "hexrig down" "$hexrig" down
rig=
run 7 "--gdb: signals reach the program all the same" "$hexrig" run-with --gdb -- \
    sh -c 'trap "exit 7" TERM; kill -TERM $PPID; while :; do sleep 0.1; done'
if command -v gdb >/dev/null; then
    run 0 "--gdb stops at the place" sh -c "printf 'bt 1\\nquit\\n' | $hexrig run-with --gdb -- $static /dev/fastrpc-cdsp crash"
    if grep -q "^ptrace: Operation not permitted" "$dir/out"; then
        echo "run-with: --gdb: skipped: this machine lets nobody trace"
    else
        says "received signal SIGILL"
        says "^(gdb) #0 .* crash (.*hxt_skel.c:[0-9]*$"
    fi
fi

# --- sockets, and programs with a library
run 0 "a rig of sockets" "$hexrig" up --front-end socket --mount "$dir/sock"
run 1 "ioctls cannot reach it" "$hexrig" run-with --device "$dir/sock/fastrpc-cdsp" -- true
says "--library"
run 0 "a library can" "$hexrig" run-with --library --device "$dir/sock/fastrpc-cdsp" -- \
    sh -c 'test -f "${LD_LIBRARY_PATH%%:*}/libcdsprpc.so.1" && test -S "$HEXRIG_DEVICE"'
run 0 "hexrig down" "$hexrig" down --mount "$dir/sock"

# --- statuses
run 42 "the program's status" "$hexrig" run-with -- "$client" x exit-42
run 137 "the program's signal" "$hexrig" run-with -- "$client" x abort
run 127 "no such program" "$hexrig" run-with -- "$dir/none"
says "No such file"
run 126 "not a program" "$hexrig" run-with -- "$dir"
run 2 "no program" "$hexrig" run-with
run 2 "two ways" "$hexrig" run-with --seccomp --preload -- true
run 1 "no such device" "$hexrig" run-with --device "$dir/none" -- true

# --- private rigs, and ends by force
alive() {
    [ -d "/proc/$1" ] && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}
nothing_left() { # nothing_left TITLE
    for _ in $(seq 600); do
        left=$(grep -o " ${dir}[^ ]*" /proc/self/mounts
            find "$XDG_RUNTIME_DIR" -mindepth 1 ! -name hexrig.log 2>/dev/null
            for p in /proc/[0-9]*; do
                grep -qsa "XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR" "$p/environ" || continue
                case $(cat "$p/comm" 2>/dev/null) in
                hexrig* | run_with_client*) alive "${p#/proc/}" && echo "process ${p#/proc/}" ;;
                esac
            done)
        [ -n "$left" ] || break
        sleep 0.1
    done
    if [ -z "$left" ]; then echo "ok   $1: nothing is left"; else
        echo "$left" >"$dir/out"
        fail "$1: something is left"
    fi
}
hold() { # hold HOW: $launcher with a client that sits on an open device, $held
    "$hexrig" run-with $1 -- "$client" /dev/fastrpc-cdsp hold >"$dir/out" 2>&1 &
    launcher=$!
    pids="$launcher"
    for _ in $(seq 600); do
        held=$(cat "$dir/out")
        [ -z "$held" ] || break
        sleep 0.1
    done
    [ "${held:-0}" -gt 1 ] || { fail "$1: the client does not come up"; exit 1; }
    pids="$launcher $held"
}
for how in --seccomp --preload; do
    run 0 "$how: a private rig" "$hexrig" run-with $how -- "$client" /dev/fastrpc-cdsp buff
    nothing_left "$how"
    hold $how
    kill -9 $launcher
    wait $launcher 2>/dev/null
    nothing_left "$how, launcher killed"
    hold $how
    kill -9 "$held"
    wait $launcher
    [ $? = 137 ] || fail "$how: the client was killed, the launcher's status is another"
    nothing_left "$how, client killed"
    hold $how
    kill -TERM $launcher
    wait $launcher
    [ $? = 143 ] || fail "$how: the launcher passes SIGTERM on"
    nothing_left "$how, SIGTERM"
    pids=
done
exit $failed
