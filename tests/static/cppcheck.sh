#!/bin/sh
# All C as a whole, by cppcheck.  cppcheck.supp: what it finds wrongly.  Usage: cppcheck.sh BUILD
# Its folder in BUILD keeps what it found in files that have not changed.
. "$(dirname "$0")/common.sh"
want cppcheck cppcheck 2.10

keep=$1/static/cppcheck
mkdir -p "$keep"
make -s BUILD="$1" compile-commands || exit 1
cppcheck --project="$1/compile_commands.json" --cppcheck-build-dir="$keep" --suppressions-list="$here/cppcheck.supp" --library="$here/cppcheck.cfg" \
    --enable=warning,performance,portability --inline-suppr --quiet --error-exitcode=1 \
    --template='{file}:{line}: {severity}: {message} [{id}]' || exit 1
echo "cppcheck: $(grep -c '"file":' "$1/compile_commands.json") files"
