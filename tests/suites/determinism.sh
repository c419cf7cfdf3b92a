# make check-determinism: modelled figures are the same in every run, with any number of DSP threads, on either front end, at any level of
# optimisation of the host's compiler, and whichever compiler built the rest.  `make check` has the same with fewer runs and levels, and no
# other builds.
. "$(dirname "$0")/common.sh"

echo "determinism turns env HXT_TURNS_RUNS=20 $build/tests/test_turns_rig"
echo "determinism optimiser sh $src/tests/cases/optimiser.sh $build 0 1 2 3"
echo "determinism builds sh $src/tests/builds/compare.sh $build"
