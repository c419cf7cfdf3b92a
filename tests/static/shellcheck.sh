#!/bin/sh
# Every script, by shellcheck.  .shellcheckrc says what is not asked, and why.  Usage: shellcheck.sh BUILD (unused)
. "$(dirname "$0")/common.sh"
want shellcheck shellcheck 0.9.0

sources | while read -r f; do
    case $f in
    *.sh) echo "$f" ;;
    *) head -c 64 "$f" | head -n 1 | grep -aq '^#!.*sh$' && echo "$f" ;;
    esac
done >"$dir/files"
xargs shellcheck -f gcc <"$dir/files" || exit 1
echo "shellcheck: $(wc -l <"$dir/files") scripts"
