#!/bin/sh
# `hexrig block` as people use it: files of blocks made, read, damaged and judged; the published vectors; and a decoder in
# another language, written from docs/block.md, that reads the same files.  Usage: block.sh [BUILD]
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-build}" && pwd)
hexrig=$build/bin/hexrig
share=$build/share/hexrig
golden=$src/tests/data/block/golden.txt
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

die() {
    echo "block: $*" >&2
    exit 1
}
# exit code of a command whose output goes to `out` and `err`
code() {
    rc=0
    "$@" >out 2>err || rc=$?
}

# --- published vectors: what this program makes, and what it accepts
"$hexrig" block golden >made.txt
cmp made.txt "$golden" || die "golden.txt is not what this program makes"
"$hexrig" block golden "$golden" >out || die "golden.txt was refused"
grep -qx 'checked=96' out || die "not all vectors were checked"
sed '7s/^\(.* [0-9a-f]\{9\}\)0/\11/; 7t; 7s/^\(.* [0-9a-f]\{9\}\)./\10/' "$golden" >wrong.txt
code "$hexrig" block golden wrong.txt
[ $rc = 1 ] && grep -q 'wrong.txt:7: another block' err || die "a wrong golden block passed: $(cat out err)"

# --- blocks of the shipped calibrations, of random vectors from a fixed generator
awk 'BEGIN { srand(7); for (i = 0; i < 640; i++) printf "%.6f\n", rand() * 4 - 2 }' >numbers
perl -e 'print pack("f<*", map { 0 + $_ } <>)' numbers >v.f32 2>/dev/null || die "perl is missing"
for cal in "$share"/hexrig-tiny*.cal; do
    "$hexrig" block encode --cal "$cal" --slot 5 -o v.blk v.f32 >out
    [ "$(stat -c %s v.blk)" = 320 ] || die "5 blocks of $cal have $(stat -c %s v.blk) bytes"
    "$hexrig" block encode --cal "$cal" --slot 5 --stride 63 -o v63.blk v.f32 >out
    [ "$(stat -c %s v63.blk)" = 315 ] || die "5 payloads have $(stat -c %s v63.blk) bytes"
    "$hexrig" block decode --cal "$cal" --slot 5 -o w.f32 v.blk >out
    "$hexrig" block decode --cal "$cal" --slot 5 --stride 63 -o w63.f32 v63.blk >out
    cmp w.f32 w63.f32
    if command -v python3 >/dev/null; then
        python3 "$src/tests/rpc/block_decoder.py" "$cal" 5 v.blk >other
        perl -e 'local $/; @a = unpack("f<*", <STDIN>); printf "%.9g\n", $_ for @a' <w.f32 >mine
        tr ' ' '\n' <other | paste mine - | awk '
            { d = $1 - $2; if (d < 0) d = -d; if (d > 1e-5) { print "block: " $0 " differ" > "/dev/stderr"; bad = 1 } n++ }
            END { exit bad || n != 640 }' || die "the other decoder differs on $cal"
    fi
done

# --- damage: named by position, exit 1, nothing decoded
"$hexrig" block validate v.blk >out || die "good blocks were refused"
printf '\377' | dd of=v.blk bs=1 seek=70 conv=notrunc 2>dd
printf '\001' | dd of=v.blk bs=1 seek=255 conv=notrunc 2>dd
code "$hexrig" block validate v.blk
[ $rc = 1 ] && grep -qx 'record=1 offset=64 fault=crc' out && grep -qx 'record=3 offset=192 fault=crc' out &&
    grep -qx 'bad=2' out || die "validate: $rc, $(cat out err)"
code "$hexrig" block validate --json v.blk
grep -q '"positions": \[{"record": 1, "offset": 64, "fault": "crc"}, {"record": 3' out || die "validate --json: $(cat out)"
code "$hexrig" block decode --cal "$cal" --slot 5 -o none.f32 v.blk
[ $rc = 1 ] && [ ! -e none.f32 ] && grep -q 'record 3, offset 192: crc is bad' err || die "decode: $rc, $(cat err)"
code "$hexrig" block inspect v.blk@0x40
[ $rc = 1 ] && grep -qx 'verdict=crc' out || die "inspect: $rc, $(cat out err)"
code "$hexrig" block inspect v.blk@128
[ $rc = 0 ] && grep -qx 'verdict=good' out && grep -q '^magnitudes=[0-7],' out || die "inspect: $rc, $(cat out err)"
if command -v python3 >/dev/null; then
    code python3 "$src/tests/rpc/block_decoder.py" "$cal" 5 v.blk
    [ $rc = 1 ] && grep -qx 'offset 192: CRC is bad' err || die "the other decoder took damaged blocks"
fi

# --- wrong usage names itself
for words in "" "nope" "validate" "validate --dh 100 v.blk" "validate --stride 65 v.blk" "calibrate -m x" \
    "stats --basis dct" "encode --cal $cal --slot 12 -o x v.f32"; do
    code "$hexrig" block $words
    [ $rc = 2 ] && grep -q 'legal\|needed\|needs\|slots 0 to 11' err || die "block $words: $rc, $(cat err)"
done
code "$hexrig" block inspect v.blk@320
[ $rc = 1 ] || die "inspect behind the end: $rc"
code "$hexrig" block encode --cal "$cal" -o x numbers
[ $rc = 1 ] || die "encode of text: $rc"

# --- --k is the older spelling of --k-rope
head -c 3000 "$share/books-holdout.txt" >text
for pair in "pre before" "post after"; do
    code "$hexrig" block calibrate -m "$share/hexrig-tiny-q8_0.gguf" -f text --basis vht2 -o new.cal --k-rope ${pair% *}
    [ $rc = 0 ] && grep -qx "block.k=${pair#* }" out || die "calibrate --k-rope ${pair% *}: $rc, $(cat out err)"
    code "$hexrig" block calibrate -m "$share/hexrig-tiny-q8_0.gguf" -f text --basis vht2 -o old.cal --k ${pair#* }
    [ $rc = 0 ] && cmp new.cal old.cal || die "calibrate --k ${pair#* }: $rc, $(cat err)"
done
code "$hexrig" block calibrate --k-rope after
[ $rc = 2 ] && grep -q "k-rope.*'after'.*pre, post" err || die "calibrate --k-rope after: $rc, $(cat err)"
code "$hexrig" block stats --k-rope before
[ $rc = 2 ] && grep -q "k-rope.*'before'.*pre, post" err || die "stats --k-rope before: $rc, $(cat err)"

# --- the model's own K and V
"$hexrig" block stats --json >out
perl -0777 -ne 'exit !(/"k": \{"vectors": 6144, "cosine": 0\.(9[5-9]|9[5-9]\d*)/ && /"refused": 0/)' out ||
    die "stats: $(head -c 600 out)"

# --- out of a run: vectors and blocks of all slots, which encode and decode agree with, whatever the cache
dump() {
    rm -rf dump
    "$hexrig" block dump -p "The king was a" "$@" -o dump >out 2>err || die "dump $*: $(cat err)"
    grep -q '"positions": 4,' dump/dump.json && grep -q '"heads": 1,' dump/dump.json || die "dump.json: $(cat dump/dump.json)"
    [ "$(stat -c %s dump/vectors.f32)" = $((12 * 4 * 512)) ] || die "vectors.f32 has $(stat -c %s dump/vectors.f32) bytes"
    "$hexrig" block validate dump/blocks.blk | grep -qx 'records=48' || die "dump $*: blocks"
    for slot in 0 5 10; do
        tail -c +$((slot * 4 * 512 + 1)) dump/vectors.f32 | head -c 2048 >one.f32
        tail -c +$((slot * 4 * 64 + 1)) dump/blocks.blk | head -c 256 >one.blk
        "$hexrig" block encode --cal dump/tables.cal --slot $slot -o again.blk one.f32 >out
        cmp one.blk again.blk || die "dump $*: slot $slot is another block"
    done
}
dump
cmp dump/tables.cal "$share/hexrig-tiny.cal" || die "dump took other tables"
cp dump/vectors.f32 blocks.f32
dump --kv f32
cmp -n $((2 * 4 * 512)) dump/vectors.f32 blocks.f32 || die "layer 0 depends on the cache"
! cmp -s dump/vectors.f32 blocks.f32 || die "no layer depends on the cache"
# V and the K of position 0 are the same before and after RoPE; other K are turned
dump --kv f32 --basis vht2
cp dump/vectors.f32 pre.f32
dump --kv f32 --basis vht2 --k-rope post
cmp -n 512 dump/vectors.f32 pre.f32 || die "position 0 is turned"
tail -c +2049 dump/vectors.f32 | head -c 2048 >post_v
tail -c +2049 pre.f32 | head -c 2048 | cmp - post_v || die "V is turned"
! cmp -s -n 2048 dump/vectors.f32 pre.f32 || die "K is not turned"
for words in "-p x" "-p x -f text -o d" "--kv spinor -p x -o d"; do
    code "$hexrig" block dump $words
    [ $rc = 2 ] && [ ! -e d ] || die "dump $words: $rc, $(cat err)"
done
code "$hexrig" block dump -n 4000000 -o d
[ $rc = 1 ] && grep -q "the model's context is" err && [ ! -e d ] || die "dump of too many positions: $rc, $(cat err)"
code "$hexrig" block dump -p x -o v.blk
[ $rc = 1 ] && grep -q 'v.blk/vectors.f32: Not a directory' err || die "dump into a file: $rc, $(cat err)"

if ! command -v python3 >/dev/null; then
    echo "skip: no python3, so the decoder in another language did not run; the rest passed"
    exit 77
fi
python3 "$src/tests/rpc/block_decoder.py" "$golden" >out
grep -qx 'checked=96' out && grep -qx 'bad=0' out || die "the other decoder: $(cat out)"
