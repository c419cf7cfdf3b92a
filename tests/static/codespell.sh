#!/bin/sh
# Sources and pages, by codespell.  codespell.words: what it takes for misspelt.  Usage: codespell.sh BUILD (unused)
. "$(dirname "$0")/common.sh"
want codespell codespell

sed 's/ .*//' "$here/codespell.words" >"$dir/words"
sources | grep -v '^tests/static/codespell.words$' >"$dir/files"
xargs codespell -I "$dir/words" <"$dir/files" || exit 1
echo "codespell: $(wc -l <"$dir/files") files"
