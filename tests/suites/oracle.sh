# The scalar intrinsics against qemu-hexagon; the vector ones are a case of `check`.
. "$(dirname "$0")/common.sh"
echo "oracle scalar sh $src/tests/oracle_scalar/run.sh $build"
