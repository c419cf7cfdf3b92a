#!/bin/sh
# No compiler warns of anything in our own C.  Usage: warnings.sh BUILD CC
. "$(dirname "$0")/common.sh"
want "$2" "$2"

commands "$1" "$2" "-Werror -fsyntax-only" rpc fuse dsp kernels host tools tests >"$dir/list"
while read -r command; do
    sh -c "$command" || echo "$command" >>"$dir/broken"
done <"$dir/list" 2>"$dir/out"
[ ! -s "$dir/broken" ] || { cat "$dir/out"; exit 1; }
echo "$2: $(wc -l <"$dir/list") files"
