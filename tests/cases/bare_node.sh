#!/bin/sh
# A node that was bind-mounted alone, as /dev/fastrpc-cdsp or elsewhere, is found and used: no private rig is started.  And hexrig
# starts in a shell whose LD_LIBRARY_PATH names another libcdsprpc.so.  Usage: bare_node.sh [BUILD]
set -eu
build=$(cd "${1:-build}" && pwd)
hexrig=$build/bin/hexrig
unset HEXRIG_DEVICE HEXRIG_FARF LD_LIBRARY_PATH
dir=$(mktemp -d)
export XDG_RUNTIME_DIR="$dir"
cleanup() {
    "$hexrig" down --mount "$dir/rig" >/dev/null 2>&1 || :
    rm -rf "$dir"
}
trap cleanup EXIT
die() {
    echo "bare_node: $*" >&2
    exit 1
}

# --- another library of the same name
mkdir "$dir/lib"
echo 'int not_the_one;' >"$dir/none.c"
${CC:-cc} -shared -fPIC -Wl,-soname,libcdsprpc.so "$dir/none.c" -o "$dir/lib/libcdsprpc.so"
LD_LIBRARY_PATH=$dir/lib "$hexrig" --version >/dev/null || die "hexrig does not start beside another libcdsprpc.so"
echo "ok: LD_LIBRARY_PATH names another libcdsprpc.so"

# --- a bare node
if ! [ -r /dev/fuse ] || ! [ -w /dev/fuse ] || ! command -v fusermount3 >/dev/null; then
    echo "bare_node: skipped: /dev/fuse cannot be opened, or fusermount3 is missing"
    exit 77
fi
own="unshare -m"
[ "$(id -u)" = 0 ] || own="unshare -rm"
$own true 2>/dev/null || { echo "bare_node: skipped: no mount namespace of its own ($own)"; exit 77; }
"$hexrig" up --mount "$dir/rig" --front-end fuse >/dev/null

calls() { # calls DEVICE-OF-HEXRIG...: what they say, by the rig's own figures
    sed -n 's/.*closed_sessions=\([0-9]*\).*/\1/p' "$dir/rig/stats"
}
before=$(calls)
cat >"$dir/inside" <<'SH'
set -eu
mkdir "$DIR/dev" "$DIR/all"
mount --rbind /dev "$DIR/all"
mount -t tmpfs none "$DIR/dev"
for n in null zero urandom fuse; do
    : >"$DIR/dev/$n"
    mount --bind "/dev/$n" "$DIR/dev/$n"
done
for n in fastrpc-cdsp fastrpc-cdsp-secure; do
    : >"$DIR/dev/$n"
    mount --bind "$DIR/rig/$n" "$DIR/dev/$n"
done
HEXRIG_DEVICE=$DIR/dev/fastrpc-cdsp "$HEXRIG" dsp call vht2 --n 66 >"$DIR/named"
mount --rbind "$DIR/dev" /dev
"$HEXRIG" dsp call vht2 --n 66 >"$DIR/found"
SH
DIR=$dir HEXRIG=$hexrig $own sh "$dir/inside" >"$dir/out" 2>&1 || die "a bare node is not used: $(cat "$dir/out")"
[ -s "$dir/out" ] && die "something was said: $(cat "$dir/out")"
for f in named found; do
    grep -q '^hvx_ops=[1-9]' "$dir/$f" || die "$f: $(cat "$dir/$f")"
done
i=0
while [ "$(calls)" != $((before + 2)) ]; do
    i=$((i + 1))
    [ $i -lt 600 ] || die "the rig has served $(calls) sessions, not $((before + 2)): $(cat "$dir/rig/stats")"
    sleep 0.1
done
echo "ok: a bare node, named by HEXRIG_DEVICE and as /dev/fastrpc-cdsp"
