# make check-calibration: what the published rows tell of every parameter of the cost model's profile, each row left out in turn.
. "$(dirname "$0")/common.sh"

echo "calibration identify env HXT_IDENTIFY_ALL=1 $build/tests/test_identify"
