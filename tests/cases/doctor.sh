#!/bin/sh
# hexrig doctor: all is well here, or it says what is not; what is taken away it notices, and says what to do.  Usage: doctor.sh BUILD
set -eu
build=$(cd "$1" && pwd)
hexrig=$build/bin/hexrig
dir=$(mktemp -d)
helper=
mount=$dir/rig
cleanup() {
    [ -z "$helper" ] || kill -9 "$helper" 2>/dev/null || :
    fusermount3 -u -z "$mount" 2>/dev/null || :
    rm -rf "$dir" || : # what is left is found at the end of the run
}
trap cleanup EXIT
export XDG_RUNTIME_DIR="$dir"
unset HEXRIG_DEVICE HEXRIG_LIBEXEC HEXRIG_FARF
cd "$dir"

fail() {
    echo "doctor: $*"
    cat out
    exit 1
}
doctor() { # doctor WANTED-EXIT-CODE COMMAND...
    want=$1 rc=0
    shift
    "$@" >out 2>err || rc=$?
    sed -i '/front end socket instead of fuse/d' err # the rig's own word
    [ $rc = "$want" ] && [ ! -s err ] || fail "exit code $rc of $*, $(cat err)"
}
says() { # says STATE NAME TEXT [TO-DO]
    grep -A1 "^$1  *$2 .*$3" out >line || fail "$2 should be $1: $3"
    [ $# = 3 ] || tail -1 line | grep -q "to do: .*$4" || fail "$2: no such thing to do: $4"
}

doctor 0 "$hexrig" doctor
for name in programs processor cpus limits sandbox fuse fusermount folder mounts device rig; do
    grep -q "^\(ok  \|note\)  $name " out || fail "no line for $name"
done
! awk '/^note/ { getline; if (!/to do: [^ ]/) exit 1 }' out && fail "a note without a thing to do"
if grep -q '^ok    fuse' out; then says ok rig 'front end fuse'; else says ok rig 'front end socket'; fi
cp out text
doctor 0 "$hexrig" doctor --json
[ "$(grep -o '"name"' out | wc -l)" = "$(grep -c '^[a-zA-Z]' text)" ] && grep -q '^{"ok": true, ' out || fail "json has other checks"
echo "ok nothing is wrong here"

doctor 1 env HEXRIG_DEVICE=/nonexistent/fastrpc-cdsp "$hexrig" doctor
says FAIL device '/nonexistent/fastrpc-cdsp: No such file' 'unset HEXRIG_DEVICE'
doctor 1 sh -c 'ulimit -n 100; exec "$0" doctor' "$hexrig"
says FAIL limits '100 open files' 'ulimit -n'
doctor 0 env XDG_RUNTIME_DIR="$dir/none" "$hexrig" doctor
says note folder "$dir/none: No such file" 'mkdir'
mkdir path
for program in sh env; do ln -s "$(command -v $program)" path/; done
doctor 0 env PATH="$dir/path" "$hexrig" doctor
says note fusermount 'no fusermount3' 'fuse3'
if [ "$(nproc --all)" -gt 1 ] && command -v taskset >/dev/null; then
    doctor 0 taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$hexrig" doctor
    says note cpus '1 of'
fi
mkdir -p half/bin half/lib half/libexec/hexrig
cp "$hexrig" half/bin/
cp "$build/lib/libcdsprpc.so" half/lib/
doctor 1 half/bin/hexrig doctor
says FAIL programs 'hexrig-fuse: No such file' 'make'
says FAIL rig 'no private rig'
for program in hexrig-fuse hexrig-dsp; do
    printf '#!/bin/sh\necho %s 0.0.1\n' $program >half/libexec/hexrig/$program
    chmod +x half/libexec/hexrig/$program
done
doctor 1 half/bin/hexrig doctor
says FAIL programs 'is 0.0.1, this is hexrig'
echo "ok what is missing is named"

# a mount without its server: the helper that would clear it sleeps
if grep -q '^ok    fuse ' text; then
    "$hexrig" up --mount "$mount" --front-end fuse >/dev/null
    helper=$(pgrep -f "fusermount3 .*$mount" || :)
    if [ -n "$helper" ]; then
        kill -STOP "$helper"
        server=$(sed -n 's/^pid=//p' "$mount/status")
        kill -9 "$server"
        n=0
        while kill -0 "$server" 2>/dev/null && [ $n -lt 1000 ]; do
            sleep 0.01
            n=$((n + 1))
        done
        doctor 0 "$hexrig" doctor
        says note mounts "$mount" 'hexrig down --mount'
        "$hexrig" down --mount "$mount" >/dev/null 2>&1 || :
        doctor 0 "$hexrig" doctor
        ! grep -q " $mount" out || fail "the mount is still there"
        echo "ok a mount without a server"
    fi
fi
