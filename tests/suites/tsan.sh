# make check-tsan: the programs that have threads, and their driver, under ThreadSanitizer; a rig's DSP and its skels are plain.  The order
# of DSP threads and what they wait for run in the test programs themselves.
. "$(dirname "$0")/common.sh"

rig="HEXRIG_LIBEXEC=$build/tsan/rig/libexec/hexrig DSP_LIBRARY_PATH=$build/tests"
options=exitcode=66:second_deadlock_stack=1:history_size=4:suppressions=$src/tests/tsan.supp
cd "$build/tsan/tests" || exit 1
for name in test_ring test_rpc test_frame test_remote_* test_dspqueue* test_driver* test_descriptors bug_lingering_close bug_open_after_close \
    test_turns test_qurt test_qurt_sync test_compute_res test_sp_hex test_e2e test_faults test_pool \
    bug_lost_output bug_rig_folders; do
    echo "tsan $name env $rig TSAN_OPTIONS=$options $build/tsan/tests/$name"
done
