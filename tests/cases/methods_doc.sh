#!/bin/sh
# docs/methods.md: its tables are those of `hexrig methods --markdown`, and its commands print what it shows.
# Usage: methods_doc.sh BUILD [write]; `write` puts the tables into the page.
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
page=$src/docs/methods.md
unset HEXRIG_DEVICE HEXRIG_LIBEXEC HEXRIG_FARF
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_RUNTIME_DIR="$dir"
. "$src/tests/lib/page.sh"
cd "$dir"

"$build/bin/hexrig" methods --markdown >tables
awk '/^<!-- end of methods -->$/ { while ((getline line <"tables") > 0) print line; off = 0 }
!off { print }
/^<!-- methods -->$/ { off = 1 }' "$page" >new
grep -q '^<!-- methods -->$' new && grep -q '^<!-- end of methods -->$' new || { echo "$page: no markers"; exit 1; }
if [ "${2:-}" = write ]; then
    cat new >"$page"
    exit 0
fi
diff "$page" new || { echo "docs/methods.md has other tables than hexrig methods: tests/cases/methods_doc.sh BUILD write"; exit 1; }
echo "methods_doc: $(grep -c . tables) lines of tables as hexrig methods --markdown has them"
page_shown "$build" "$page"
