# make check-docs: every command that README.md and docs/*.md show, page by page: as printed, from a clone.  `make check` has the quick ones.
. "$(dirname "$0")/common.sh"

for page in README.md $(cd "$src" && ls docs/*.md); do
    echo "docs $(basename "$page" .md) sh $src/tests/cases/docs_commands.sh $build all $page"
done
echo "docs offload-windows env HXT_WINDOWS_ALL=1 $build/tests/test_offload"
