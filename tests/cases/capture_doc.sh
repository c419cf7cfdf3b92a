#!/bin/sh
# docs/capture.md: its reader reads what `hexrig model capture` and --capture write, and the commands print what it shows.
# Usage: capture_doc.sh BUILD
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
page=$src/docs/capture.md
command -v python3 >/dev/null || { echo "skip: no python3 for the page's reader"; exit 77; }
unset HEXRIG_DEVICE HEXRIG_LIBEXEC HEXRIG_FARF
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_RUNTIME_DIR="$dir"
. "$src/tests/lib/page.sh"
cd "$dir"

mkdir page
page_blocks "$page" page
[ "$(cat page/list)" = "read_capture.py file" ]
cp page/1 read_capture.py
page_shown "$build" "$page"

# sizes by the page's tables: 72 bytes, then of each record 16, 8 per token and 4 per float
want=$(python3 read_capture.py states.hxc | awk 'NR > 1 { bytes += 16 + $4 * (8 + 4 * $7) } END { print 72 + bytes }')
have=$(wc -c <states.hxc)
echo "bytes by the page and of the file: $want $have"
[ "$want" = "$have" ]
# all points: each is there, and the points that are of no layer once a batch
"$build/bin/hexrig" model capture -f build/share/hexrig/books-holdout.txt -o all.hxc --points all -n 128 >out
python3 read_capture.py all.hxc | awk 'NR > 1 { n[$1]++ } END { for (p in n) print p, n[p] }' | LC_ALL=C sort | paste -sd' ' >points
cat points
[ "$(cat points)" = "after_attn 6 after_ffn 6 before_norm 1 embedding 1 in_down 6 in_ffn 6 in_o 6 in_out 1 in_qkv 6 k 6 q 6 v 6" ]
# a file that was cut is refused
head -c 1000 states.hxc >cut.hxc
! python3 read_capture.py cut.hxc >out 2>&1
