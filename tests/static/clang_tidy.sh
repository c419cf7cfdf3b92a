#!/bin/sh
# The C of some folders, by clang-tidy.  .clang-tidy says which checks; clang_tidy.known, what they find wrongly.
# Usage: clang_tidy.sh BUILD FOLDER...
. "$(dirname "$0")/common.sh"
want clang-tidy-19 clang-tidy-19

build=$1
shift
make -s BUILD="$build" CC=gcc compile-commands || exit 1
for folder in "$@"; do
    sed -n "s|.*\"file\": \"\($folder/[^\"]*\)\".*|\1|p" "$build/compile_commands.json"
done >"$dir/files"
xargs -n 8 clang-tidy-19 -p "$build" --quiet <"$dir/files" >"$dir/out" 2>"$dir/err"
grep -q 'error:\|Error ' "$dir/err" && { cat "$dir/err"; exit 1; }
awk -v root="$PWD/" -f "$here/known.awk" "$here/clang_tidy.known" "$dir/out" || exit 1
echo "clang-tidy: $(wc -l <"$dir/files") files"
