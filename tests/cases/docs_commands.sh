#!/bin/sh
# README.md and docs/*.md: the commands that they show run as printed, from a clone, and print what the page shows.  In `make check` those that
# take a moment; with `all` every one that docs_commands.rules does not name, or those of the pages that follow; `write` puts what they print
# into the pages.  Usage: docs_commands.sh BUILD [all [PAGE...] | write PAGE...]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
for tool in python3 bash; do
    command -v $tool >/dev/null || { echo "skip: no $tool"; exit 77; }
done
what=${2:-quick}
[ $# -lt 2 ] && shift || shift 2
case $what in
quick) exec python3 "$here/docs_commands.py" "$here/../.." "$build" --quick ;;
all) exec python3 "$here/docs_commands.py" "$here/../.." "$build" "$@" ;;
write) exec python3 "$here/docs_commands.py" "$here/../.." "$build" --write "$@" ;;
*) echo "docs_commands.sh: '$what' is neither all nor write" >&2; exit 2 ;;
esac
