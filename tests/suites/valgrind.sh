# make check-valgrind: memcheck on the programs that start no other program (valgrind 3.19 has no pidfd_open, with which the
# test library waits for one): the wire, the client library against a driver in the same process, parsers and kernels.
. "$(dirname "$0")/common.sh"

memcheck="valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
--suppressions=$src/tests/valgrind.supp"
command -v valgrind >/dev/null || {
    skip valgrind memcheck no valgrind: apt-get install valgrind
    exit 0
}
for name in test_ring test_rpc test_frame test_block test_gguf test_tokenizer test_sampler test_sp_hex test_hexidl test_hexidl_wire \
    check_spinor; do
    echo "valgrind $name $memcheck $build/valgrind/tests/$name"
done
echo "valgrind hexrig $memcheck $build/valgrind/bin/hexrig run --kv f32 -p The -n 2"
