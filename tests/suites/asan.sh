# make check-asan: the test programs under AddressSanitizer and UndefinedBehaviorSanitizer, as `make check` runs them, too.
. "$(dirname "$0")/common.sh"

programs "$build/asan/tests" asan
