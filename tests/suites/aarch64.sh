# make check-aarch64: wire, kernels, HVX and the engine's parts compiled for 64-bit Arm, under qemu-aarch64: the golden
# vectors and the oracle's results are the same ones.  Left out is what starts other programs (they would be started
# without qemu) and test_parts (qemu does not keep low addresses free).  Without the tools, one skip.
. "$(dirname "$0")/common.sh"

mkdir -p "$build/aarch64"
if ! "$src/tests/aarch64/build.sh" "$build/aarch64" >/dev/null 2>&1; then # again below, where its words are shown
    echo "aarch64 build sh $src/tests/aarch64/build.sh $build/aarch64"
    exit 0
fi
for name in test_ring test_rpc test_block test_hvx_int test_hvx_ieee test_qfloat test_scalar_q6 check_spinor test_sp_hex \
    test_hexidl test_hexidl_wire test_gguf test_tokenizer test_sampler test_quant test_arch test_cpu_matmul test_cpu_ops test_ok test_ntt \
    test_chat; do
    echo "aarch64 $name $build/aarch64/run $build/aarch64/rig/tests/$name"
done
