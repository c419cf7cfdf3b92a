# make check-faults: whatever fails on purpose: FAULT_ROUNDS (3) of the tests of kills, crashes and restarts, plainly and
# under ASan, every error that the `error` filter knows at every ioctl, every n-th call of driver, DSP, client library and tools,
# every process at every stage of a call and of the start, and shells that race for a rig.
. "$(dirname "$0")/common.sh"

echo "faults filter $build/tests/soak_faults"
echo "faults matrix env HXT_FAULTS_ALL=1 $build/tests/test_fault_matrix"
echo "faults start env HXT_FAULTS_ALL=1 $build/tests/test_fault_start"
for name in failure client tools; do
    echo "faults nth-$name env HXT_FAIL_ALL=1 $build/tests/test_nth_$name"
done
round=1
while [ $round -le "${FAULT_ROUNDS:-3}" ]; do
    for name in test_faults test_driver_pd bug_lost_output; do
        echo "faults $name-$round env HXT_SEED=$round $build/tests/$name"
        echo "faults $name-asan-$round env HXT_SEED=$round $build/asan/tests/$name"
    done
    round=$((round + 1))
done
echo "faults rig-race env HXT_RACE_S=60 $build/tests/test_rig_race"
