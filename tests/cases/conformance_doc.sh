#!/bin/sh
# docs/conformance.md: its list of points is that of the program, and so are the counts that it shows.
# Usage: conformance_doc.sh BUILD [write]; `write` puts the list into the page.
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
page=$src/docs/conformance.md
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

"$build/tests/conformance" --list >"$dir/list"
awk -v list="$dir/list" '/^<!-- end of points -->$/ { while ((getline line <list) > 0) print line; off = 0 }
!off { print }
/^<!-- points -->$/ { off = 1 }' "$page" >"$dir/new"
grep -q '^<!-- points -->$' "$dir/new" && grep -q '^<!-- end of points -->$' "$dir/new" || { echo "$page: no markers"; exit 1; }
if [ "${2:-}" = write ]; then
    cat "$dir/new" >"$page"
    exit 0
fi
diff "$page" "$dir/new" || { echo "docs/conformance.md has another list than conformance --list: tests/cases/conformance_doc.sh BUILD write"; exit 1; }

# "58 points: 57 on fuse, 50 on socket, 58 on cuse."
tail -n 1 "$dir/list" | tr -d ':,.' | {
    read -r all _ n1 _ f1 n2 _ f2 n3 _ f3
    for shown in "$f1 $n1" "$f2 $n2" "$f3 $n3"; do
        n=${shown#* }
        want="conformance ${shown% *} $n/$n"
        [ "$n" = "$all" ] || want="$want, $((all - n)) not on this front end"
        grep -qxF "$want" "$page" || { echo "docs/conformance.md does not show: $want"; exit 1; }
    done
}

# every function is one of the driver's, by its own prefix or as the exception that it is
sed -n 's/^| [0-9]* | .* | \([a-z_, ]*\) | [^|]*|$/\1/p' "$dir/list" | tr -d ' ' | tr ',' '\n' | grep -v '^fastrpc_\|^is_session_rejected$' && {
    echo "these are no functions of fastrpc.c"
    exit 1
}
echo "conformance_doc: $(grep -c '^| [0-9]' "$dir/list") points as conformance --list has them"
