#!/bin/sh
# Pages and comments name files that are there: paths in backticks, links with their headings, paths in comments, pages; README.md
# links to every page.
# Usage: docs_links.sh [BUILD]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
exec python3 "$here/docs_links.py" "$here/../.."
