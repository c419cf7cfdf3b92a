# make check-static: the sources under tools that read them.  With `quick` only those that `make check` runs, too.
. "$(dirname "$0")/common.sh"

for tool in shellcheck codespell analyzer; do
    echo "static $tool sh $src/tests/static/$tool.sh $build"
done
[ "${2:-}" != quick ] || exit 0
echo "static lintian sh $src/tests/cases/deb.sh $build lintian"
echo "static cppcheck sh $src/tests/static/cppcheck.sh $build"
for cc in gcc clang-16; do
    echo "static warnings-$cc sh $src/tests/static/warnings.sh $build $cc"
done
for folder in rpc fuse dsp tools host kernels; do
    echo "static clang_tidy-$folder sh $src/tests/static/clang_tidy.sh $build $folder"
done
