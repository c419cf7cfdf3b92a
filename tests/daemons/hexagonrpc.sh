#!/bin/sh
# hexagonrpcd of linux-msm, unmodified, on the rig: it serves a file to the skel of a client that has its session, and stays up.
# Usage: hexagonrpc.sh BUILD.  HEXAGONRPC_GIT: where the sources are.
. "$(dirname "$0")/real.sh"
sources hexagonrpc "${HEXAGONRPC_GIT:-https://github.com/linux-msm/hexagonrpc}" dd9ac70c026e1bad93e8cffa3801255b8ceb551e
cc=${CC:-gcc}
daemon=$real/hexagonrpcd.bin
[ -e /usr/include/misc/fastrpc.h ] || skip "no misc/fastrpc.h (linux-libc-dev)"
[ -x "$daemon" ] || $cc -O1 -w -I"$real/include" "$real"/libhexagonrpc/*.c "$real"/hexagonrpcd/*.c -lpthread -o "$daemon" >"$dir/out" 2>&1 ||
    fail "hexagonrpcd does not build"

$cc -I"$src/rpc/include" "$src/tests/daemons/shared_fd.c" -o "$dir/shared_fd"
mkdir -p "$dir/root/dsp"
echo "served by hexagonrpcd" >"$dir/root/dsp/words.txt"
export DSP_LIBRARY_PATH="$build/tests" SHARED_FD_FILE=words.txt
stays "$daemon" -f /dev/fastrpc-cdsp -R "$dir/root" -p "$dir/shared_fd"
grep -q "shared_fd: open and read 0x0, errno 0: served by hexagonrpcd" "$dir/out" || fail "its client's skel did not read the file"
echo "ok   a skel reads a file that hexagonrpcd serves"
