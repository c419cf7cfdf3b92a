# Other people's programs, unmodified and fetched: Qualcomm's library, daemon and test program, linux-msm's daemon, XNNPACK's HVX functions.
. "$(dirname "$0")/common.sh"
echo "real qualcomm sh $src/tests/daemons/qualcomm.sh $build"
echo "real hexagonrpc sh $src/tests/daemons/hexagonrpc.sh $build"
echo "real fastrpc_test sh $src/tests/daemons/fastrpc_test.sh $build"
echo "real xnnpack sh $src/tests/xnnpack/run.sh $build"
