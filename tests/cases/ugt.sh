#!/bin/sh
# hexrig ugt and hexrig model rotate: a basis' overlap with itself and with chance, routing beside its control, a feed-forward of a rotated
# twin in the model, and what is refused.  Usage: ugt.sh BUILD
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
hexrig=$build/bin/hexrig
topics=$build/share/hexrig/topics.txt
f16=$src/tests/data/hexrig-tiny-f16.gguf
unset HEXRIG_DEVICE HEXRIG_LIBEXEC HEXRIG_FARF
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_RUNTIME_DIR="$dir"
cd "$dir"
. "$src/tests/lib/figures.sh"

"$hexrig" ugt build -m "$f16" --every -o a.ugt >built
holds built held 'v > .7 && v < 1'
holds built held_out 'v > .6'
holds built noise 'v < .45'
holds built skew 'v < 1e-6'
"$hexrig" ugt overlap a.ugt a.ugt >same
holds same overlap 'v > 1 - 1e-12 && v < 1 + 1e-12'
holds same random 'v > .2 && v < .3'
"$hexrig" ugt zones -m "$f16" --basis a.ugt >zones
holds zones accuracy.without_id 'v > .2'
holds zones accuracy.with_id 'v == 1'
holds zones accuracy.shuffled 'v > .05 && v < .2'
"$hexrig" ugt refine -m "$f16" --basis a.ugt --steps 20 -o b.ugt >refined
holds refined cosine_after "v < $(figure cosine_before refined)"
holds refined skew 'v < 1e-6'
# what was not accepted is not kept
case $(figure verdict refined) in
ACCEPTED) ;;
REJECTED) cmp a.ugt b.ugt ;;
*) fail "$(cat refined)" ;;
esac
# what was is kept with the share that it holds itself
"$hexrig" ugt build --k 4 -o four.ugt >four
"$hexrig" ugt refine --basis four.ugt --steps 5 -o turned.ugt >turned
holds turned verdict 'v == "ACCEPTED"'
held=$(od -A n -t f8 -j 32 -N 8 turned.ugt)
holds turned held_after "(v / $held - 1) ^ 2 < 1e-20"
holds turned held_before "(v / $held - 1) ^ 2 > 1e-4"

"$hexrig" model rotate "$f16" twin.gguf >rotated
"$hexrig" ugt swap -m "$f16" twin.gguf --chunks 2 >swapped
holds swapped naive.change 'v > .05'
holds swapped mapped.change 'v > -1e-3 && v < 1e-3'
holds swapped verdict 'v == "PASS"'
"$hexrig" ppl -m "$f16" -f "$build/share/hexrig/books-holdout.txt" --kv f32 --linear ref --attn ref --chunks 2 >one
"$hexrig" ppl -m twin.gguf -f "$build/share/hexrig/books-holdout.txt" --kv f32 --linear ref --attn ref --chunks 2 >two
holds two ppl "(v / $(figure ppl one) - 1) ^ 2 < 1e-10"

refuses 1 'another model' "$hexrig" ugt zones -m twin.gguf --basis a.ugt
refuses 1 'no basis of hidden states' "$hexrig" ugt overlap a.ugt "$f16"
head -c 1000 a.ugt >cut.ugt
refuses 1 'checksum' "$hexrig" ugt overlap a.ugt cut.ugt
refuses 1 'k = 200; 160 states of 256 numbers have 1..159' "$hexrig" ugt build --k 200 -o c.ugt
[ ! -e c.ugt ] || fail "a basis that was refused was written"
refuses 1 'the file exists and is no capture\|no regular\|exists' "$hexrig" ugt build -o "$f16"
refuses 2 'no basis' "$hexrig" ugt zones
refuses 1 'layer 6' "$hexrig" ugt swap -m "$f16" twin.gguf --layer 6
# a topic's name may be any bytes, and as a key of a report it is neither the report's own nor another topic's
printf '# basis\nThe rain fell\nThe king was\n# caf\351\nA cup of tea\nBread and wine\n# caf\350\nThe sea\nA boat\n' >names
"$hexrig" ugt build -m "$f16" --prompts names --k 4 -o names.ugt >named
"$hexrig" ugt zones -m "$f16" --prompts names --basis names.ugt >zoned
[ "$(grep -c '^topics\..*\.texts=2$' zoned)" = 3 ] && [ "$(figure basis zoned)" = names.ugt ] || fail "$(cat zoned)"
{
    printf '# %064d\n' 0
    echo "the rain"
} >long
refuses 1 'long: topic .* 64 bytes; 63' "$hexrig" ugt build --prompts long
refuses 1 'a topic without a name' "$hexrig" ugt build --zone "=$topics"
echo "the rain" >loose
refuses 1 "in front of the first" "$hexrig" ugt build --prompts loose
echo "ugt: $(figure held built) held, $(figure accuracy.without_id zones) routed, swap $(figure mapped.change swapped)"
