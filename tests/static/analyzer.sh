#!/bin/sh
# Wire, client library and driver, by gcc -fanalyzer.  analyzer.known: what it finds wrongly.  Usage: analyzer.sh BUILD
. "$(dirname "$0")/common.sh"
want gcc-12 gcc-12

commands "$1" gcc-12 -fanalyzer rpc/client rpc/lib rpc/queue rpc/rig rpc/transport rpc/wire fuse >"$dir/list"
while read -r command; do
    sh -c "$command -o /dev/null" || echo "$command" >>"$dir/broken"
done <"$dir/list" 2>"$dir/out"
[ ! -s "$dir/broken" ] || { cat "$dir/out"; exit 1; }
awk -f "$here/known.awk" "$here/analyzer.known" "$dir/out" || exit 1
echo "gcc -fanalyzer: $(wc -l <"$dir/list") files"
