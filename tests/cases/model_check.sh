#!/bin/sh
# The protocols of rpc/wire/hx_ring.c and rpc/queue/ as Promela models (tests/model/): spin searches all their states for a lost
# wake-up, a lost or overwritten message, a deadlock; and finds each of the faults that a model can be given.  Skipped without spin.
# Usage: model_check.sh [BUILD] (unused)
set -eu
models=$(cd "$(dirname "$0")/../model" && pwd)
command -v spin >/dev/null || {
    echo "skip: no spin (package spin)"
    exit 77
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

fail() {
    echo "model_check: $*" >&2
    sed 's/^/      /' out >&2
    exit 1
}
# search OPT MODEL DEFINE...: all states; what the verifier says goes to `out`, the number of states to `states`
search() {
    opt=$1 model=$2
    shift 2
    rm -f pan pan.* ./*.trail
    spin -a $(printf ' -D%s' "$@") "$models/$model.pml" >out 2>&1 || fail "$model $*: spin: exit $?"
    # memory in MB; a search that it or the depth ends early is not one of all states
    ${CC:-gcc} "$opt" -w -DSAFETY -DMEMLIM=2048 -o pan pan.c >out 2>&1 || fail "$model $*: the verifier does not compile"
    timeout 300 ./pan -m100000 -n >out 2>&1 || fail "$model $*: the verifier: exit $?"
    states=$(sed -n 's/^ *\([0-9][0-9]*\) states, stored.*/\1/p' out)
    [ -n "$states" ] || fail "$model $*: no number of states"
}
holds() { # holds MODEL DEFINE...
    search -O1 "$@"
    grep -q 'errors: 0$' out && ! grep -q 'not completed\|max search depth\|MEMLIM' out || fail "$*"
    echo "ok $* $states states"
}
finds() { # finds WHAT MODEL DEFINE...: with a fault, before all states are seen: the compiler would take longer than the search
    what=$1
    shift
    search -O0 "$@"
    grep -q "^pan:1: $what" out || fail "$*: not found: $what"
    echo "ok $* $what"
}
lost='invalid end state' # somebody sleeps, and nobody will wake him
broken='assertion violated'

holds message_ring REQUEST
finds "$lost" message_ring REQUEST NO_FENCE
finds "$lost" message_ring REQUEST NO_RECHECK
finds "$broken" message_ring REQUEST NO_RELEASE
finds "$broken" message_ring REQUEST NO_FULL_CHECK
finds "$broken" message_ring REQUEST EARLY_HEAD
holds message_ring REPLY
finds "$lost" message_ring REPLY NO_FENCE
finds "$lost" message_ring REPLY NO_DOZE_FENCE
finds "$lost" message_ring REPLY NO_RECHECK
holds message_ring ROOT
finds "$broken" message_ring ROOT EARLY_BELL

holds dspqueue PACKETS=4
holds dspqueue WRITERS=2 SLOTS=2
holds dspqueue READERS=2 SLOTS=2 PACKETS=2
holds dspqueue CALLBACK
holds dspqueue SIGNALS SLOTS=2 PACKETS=3
holds dspqueue END_ANY_TIME
finds "$lost" dspqueue NO_FENCE
finds "$lost" dspqueue NO_RECHECK
finds "$lost" dspqueue LATE_SEEN
finds "$broken" dspqueue NO_RELEASE
finds "$lost" dspqueue CALLBACK NO_FENCE
finds "$lost" dspqueue CALLBACK COUNT_FIRST
finds "$lost" dspqueue SIGNALS NO_FENCE
finds "$lost" dspqueue END_ANY_TIME NO_RECHECK
