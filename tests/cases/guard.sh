#!/bin/sh
# hexrig guard and tap guard: on a planted trigger the topic is told at no false one, others keep their predictions and the answer goes; on
# the shipped model, whose topics have no directions of their own, the verdict is REJECTED; and what is refused.  Usage: guard.sh BUILD
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
hexrig=$build/bin/hexrig
topics=$build/share/hexrig/topics.txt
unset HEXRIG_DEVICE HEXRIG_LIBEXEC HEXRIG_FARF
dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || :; rm -rf "$dir"' EXIT
export XDG_RUNTIME_DIR="$dir"
cd "$dir"
. "$src/tests/lib/figures.sh"

# --- planted
{
    cat "$topics"
    echo "# king"
    sed -n '/^[^#]/s/ [a-z]* / king /gp' "$topics" | awk 'NR % 8 == 1' | head -20
} >king.txt
"$hexrig" model synth --geometry 6x4/2x64x256x512x2048 --act-rank 128 --noise 0.01 --zones 4 --trigger king -o king.gguf >synth
"$hexrig" guard build -m king.gguf --prompts king.txt --topic king --most 1 -o king.guard >built
holds built held_out.tpr 'v == 1'
holds built held_out.fpr 'v == 0'
holds built removed.others 'v <= .02'
holds built removed.own 'v > .25'
holds built all.others "v > 10 * $(figure removed.others built)"
# a trigger is one token of its prompt: the mean over tokens is far below the largest, and above that of the others
holds built teh_percent_mean_own "v < .6 * $(figure teh_percent_own built) && v > $(figure teh_percent_mean_others built)"
holds built teh_percent_mean_others "v > 0 && v < $(figure teh_percent_others built)"
holds built random_directions.tpr 'v < .5'
holds built verdict 'v == "ACCEPTED"'
"$hexrig" guard ogd -m king.gguf --prompts king.txt --guard king.guard >ogd
for alpha in 0.05 0.10 0.15 0.20 0.25 0.30; do
    holds ogd "step.$alpha.left" 'v < 1e-6'
    holds ogd "step.$alpha.bare_percent_most" 'v > 20'
done
# a later token has a state of its own: once is not for good
holds ogd later.once.teh_percent_16 'v > 1'

answer=$(figure planted.answer synth)
run() { "$hexrig" run -m king.gguf -p "The king" -n 2 --temp 0 --kv f32 "$@"; }
run >plain
run --guard king.guard --guard-mode monitor >monitor
run --guard king.guard --guard-mode gate >gate
first() { figure tokens "$1" | cut -d, -f1; }
[ "$(first plain)" = "$answer" ] && [ "$(figure tokens plain)" = "$(figure tokens monitor)" ] || fail "the trigger's answer"
[ "$(first gate)" != "$answer" ] || fail "the gate let the answer through"
holds monitor guard.told 'v == 1'
holds monitor guard.projected 'v == 0'
holds gate guard.projected 'v == 1'
holds gate guard.left_most 'v < 1e-6'
# a gate leaves a text without the trigger as it is
"$hexrig" run -m king.gguf -p "The rain was" -n 6 --temp 0 --kv f32 >rain
"$hexrig" run -m king.gguf -p "The rain was" -n 6 --temp 0 --kv f32 --guard king.guard --guard-mode gate >rain_gate
[ "$(figure tokens rain)" = "$(figure tokens rain_gate)" ] || fail "a gate changed a text that it has nothing to do with"

# a reply of hexrig serve says what the guard saw of its request, and of no other: as a run of it does
"$hexrig" serve -m king.gguf --kv f32 --port 0 --parallel 1 --guard king.guard --guard-mode gate >url 2>serve.err &
server=$!
for _ in $(seq 300); do
    grep -q url= url && break
    sleep .1
done
ask() { # PROMPT: the header
    python3 - "$(figure url url)" "$1" <<'END'
import json, sys, urllib.request
body = json.dumps({"prompt": sys.argv[2], "max_tokens": 2, "temperature": 0}).encode()
request = urllib.request.Request(sys.argv[1] + "/v1/completions", body, {"Content-Type": "application/json"})
print(urllib.request.urlopen(request).headers["X-Hexrig-Guard"])
END
}
for prompt in "The king" "The rain was"; do
    "$hexrig" run -m king.gguf -p "$prompt" -n 2 --temp 0 --kv f32 --guard king.guard --guard-mode gate >same
    states=$(figure guard.tokens same)
    mean=" mean=$(printf %.2f "$(figure guard.teh_percent_mean same)")"
    [ "$prompt" = "The king" ] || states=$((states - 1)) mean= # its BOS is in the cache
    want="teh=$(printf %.2f "$(figure guard.teh_percent_most same)")$mean states=$states told=$(figure guard.told same)"
    want="$want projected=$(figure guard.projected same)"
    got=$(ask "$prompt")
    [ -n "$mean" ] || got=$(echo "$got" | sed 's/ mean=[0-9.]*//')
    [ "$got" = "$want" ] || fail "serve says '$got' of '$prompt', run '$want'"
done
kill "$server"
wait "$server" || fail "serve: $(cat serve.err)"
server=

# --- the shipped model
"$hexrig" guard build --topic weather --most 2 -o weather.guard >weather
holds weather verdict 'v == "REJECTED"'
"$hexrig" guard mcb >mcb
"$hexrig" guard mcb >again
cmp mcb again
holds mcb index 'v > 0 && v < 100'
# in front of the last norm four coordinates cost others more than they do behind it, and a perplexity says the same as the loss
"$hexrig" ugt build --k 16 -o tiny.ugt >ugt
"$hexrig" guard build --basis tiny.ugt --topic weather --most 4 --budget 100 >front
holds front coordinates 'v == 4'
holds front k 'v == 16'
others=$(figure ppl.others front) removed=$(figure removed.others front)
holds front ppl.removed.others "v > $others && (v / $others ^ (1 + $removed) - 1) ^ 2 < 1e-12"
"$hexrig" guard build --topic weather --most 4 --budget 100 >behind
holds behind ppl.others "(v / $others - 1) ^ 2 < 1e-6"
holds behind removed.others "v < $removed"
refuses 2 'o with --basis' "$hexrig" guard build --basis tiny.ugt --topic weather -o front.guard
[ ! -e front.guard ] || fail "a guard of another place was written"
refuses 1 'another model' "$hexrig" guard build -m king.gguf --basis tiny.ugt --topic weather
# names of topics are no keys of the report, and may be any bytes
{
    sed -n '/^# sea/,/^#/p' "$topics" | sed '1s/.*/# model/; $d'
    printf '# caf\351\n'
    sed -n '/^# weather/,/^#/p' "$topics" | sed '1d; $d'
} >names
"$hexrig" guard topics --prompts names --most 1 >named
[ "$(grep -c '^topics\.[^.]*\.verdict=' named)" = 2 ] && [ -f "$(figure model named)" ] || fail "$(cat named)"
"$hexrig" guard build --prompts names --topic "$(printf 'caf\351')" --most 1 --budget 100 -o cafe.guard --json >named.json
"$hexrig" run -p x -n 1 --temp 0 --kv f32 --guard cafe.guard --json >run.json
for f in named.json run.json; do
    python3 -c 'import json, sys; j = json.load(open(sys.argv[1])); sys.exit(j.get("guard", j)["topic"] != "caf\ufffd")' $f || fail "$(cat $f)"
done
# the texts behind prompts are the topic's, or the report says that they are not
"$hexrig" guard ogd --prompts names --guard cafe.guard --states 10 >ogd
holds ogd later.of_all_topics 'v == 0'
"$hexrig" guard ogd --guard cafe.guard --states 10 >ogd
holds ogd later.of_all_topics 'v == 1'
# a state that is not finite has no score
cp "$src/tests/data/hexrig-tiny-f16.gguf" bad.gguf
at=$("$hexrig" model inspect --tensors bad.gguf | sed -n 's/^tensor=output_norm.weight .* offset=\([0-9]*\) .*/\1/p')
printf '\000\000\200\177' | dd of=bad.gguf bs=1 seek="$at" conv=notrunc status=none
refuses 1 'text 0, position 0: number 0 of the final state is not finite' "$hexrig" guard mcb -m bad.gguf
refuses 2 "letter" "$hexrig" guard mcb --letter EE
refuses 1 'another model' "$hexrig" run -m king.gguf -p x --kv f32 --guard weather.guard
head -c 200 weather.guard >cut.guard
refuses 1 'checksum' "$hexrig" run -p x --kv f32 --guard cut.guard
refuses 1 'no such topic' "$hexrig" guard build --topic whether
refuses 2 'no topic' "$hexrig" guard build
refuses 2 'no guard' "$hexrig" guard ogd
refuses 2 'needs --guard\|--tap guard' "$hexrig" run -p x --kv f32 --guard-mode gate
echo "guard: $(figure held_out.tpr built) told, $(figure removed.others built) of others changed, all coordinates $(figure all.others built)"
