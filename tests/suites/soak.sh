# make check-soak: SOAK_S (60) seconds of clients that come, call and die, on each front end; SOAK_S (600) seconds of eight
# clients of `hexrig serve`; what a polite client keeps beside a greedy one.
. "$(dirname "$0")/common.sh"
echo "soak clients $build/tests/soak_clients"
echo "soak fairness $build/tests/soak_fairness"
echo "soak serve $build/tests/soak_serve"
