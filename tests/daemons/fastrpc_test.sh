#!/bin/sh
# fastrpc_test of Qualcomm's repository and its three test libraries for 64-bit Arm, unmodified, in one process under qemu-aarch64: with hexrig's
# library compiled for Arm, on a rig of this machine, by its socket.  The libraries' skels are Hexagon code; those here are in fastrpc_test/.
# Usage: fastrpc_test.sh BUILD.  FASTRPC_GIT: where the sources are.
. "$(dirname "$0")/real.sh"
sources fastrpc_test "${FASTRPC_GIT:-https://github.com/qualcomm/fastrpc}" 29851fde11d4e2a4ce221536485d0f7d46ffca30
arm=$build/aarch64
"$src/tests/aarch64/build.sh" "$arm" lib/libcdsprpc.so.1 >"$dir/out" 2>&1 || {
    rc=$?
    [ $rc != 77 ] || skip "$(tail -n 1 "$dir/out")"
    fail "hexrig's library does not build for 64-bit Arm"
}

"$arm/cc" -O1 -w "-Dtestlibdir=\"$real/test/linux\"" "-Dtestdspdir=\"$dir/skels\"" "$real/test/fastrpc_test.c" -ldl -o "$dir/fastrpc_test"
mkdir "$dir/skels" "$dir/gen"
export PKG_CONFIG_PATH="$build/lib/pkgconfig"
for name in calculator hap_example multithreading; do
    ours=$src/tests/daemons/fastrpc_test
    "$build/bin/hexidl" --dsp-codes "$ours/$name.idl" -o "$dir/gen"
    ${CC:-gcc} -O1 $(pkg-config --cflags hexrig-skel) -I"$dir/gen" "$ours/${name}_imp.c" "$dir/gen/${name}_skel.c" \
        -o "$dir/skels/lib${name}_skel.so" $(pkg-config --libs hexrig-skel) >"$dir/out" 2>&1 || fail "skel $name does not build"
done

DSP_LIBRARY_PATH="$dir/skels" "$hexrig" up --front-end socket --mount "$dir/rig" >/dev/null
trap '"$hexrig" down --mount "$dir/rig" >/dev/null 2>&1 || :; rm -rf "$dir"' EXIT
export HEXRIG_DEVICE="$dir/rig/fastrpc-cdsp"
sed "s,-E LD_LIBRARY_PATH=,&$arm/rig/lib:," "$arm/run" >"$dir/run" # the libraries ask for libcdsprpc.so.1 by name
timeout 120 sh "$dir/run" "$dir/fastrpc_test" >"$dir/out" 2>&1 || {
    rc=$?
    cat "$dir/hexrig.log" >>"$dir/out"
    fail "fastrpc_test: exit $rc"
}
sed -n 's/^hexrig-dsp.*_imp.c:[0-9]*: /DSP: /p' "$dir/hexrig.log" >>"$dir/out"
grep -q '^  Passed: *3$' "$dir/out" || fail "fastrpc_test: not three tests"
[ "$(grep -c '^DSP: .*mask' "$dir/out")" = 3 ] || fail "messages of the DSP: not one for each mask, and one by the mask"
cat "$dir/out"
echo "ok   fastrpc_test's three libraries pass in one process"
