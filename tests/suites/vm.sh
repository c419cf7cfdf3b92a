# The driver as a character device in a virtual machine.
. "$(dirname "$0")/common.sh"
echo "vm conformance sh $src/tests/vm/run.sh $build"
