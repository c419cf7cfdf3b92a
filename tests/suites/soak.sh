# make check-soak: SOAK_S (60) seconds of clients that come, call and die, on each front end.
. "$(dirname "$0")/common.sh"
echo "soak clients $build/tests/soak_clients"
