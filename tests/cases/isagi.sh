#!/bin/sh
# hexrig isagi: five turns, of which the repeated question makes no DSP call; a state that goes on where it was, with the same answer also
# behind a DSP that was killed; a damaged state is refused and stays.  Usage: isagi.sh BUILD
set -eu
build=$(cd "$1" && pwd)
hexrig=$build/bin/hexrig
unset HEXRIG_DEVICE HEXRIG_LIBEXEC HEXRIG_FARF
dir=$(mktemp -d)
up='' server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || :; [ -z "$up" ] || "$hexrig" down >/dev/null 2>&1; rm -rf "$dir"' EXIT
export XDG_RUNTIME_DIR="$dir"
cd "$dir"

fail() {
    echo "isagi: $*"
    exit 1
}
# of turn N: figure N KEY FILE
figure() { sed -n "s/^turn=$1 .*\b$2=\([^ ]*\).*/\1/p" "$3"; }
holds() { # FILE TURN KEY CONDITION: `v` is the figure
    v=$(figure "$2" "$3" "$1")
    [ -n "$v" ] && awk -v v="$v" "BEGIN { exit !($4) }" || fail "$1: $3 of turn $2 is '$v', not $4"
}

cat >five <<'END'
The king was
The rain fell upon
The king was
The king was a
A symphony by Beethoven
END
"$hexrig" isagi --script five --state mind.miku >out
[ "$(grep -c '^turn=' out)" = 5 ] || fail "$(cat out)"
for turn in 1 2 4 5; do
    holds out $turn calls 'v > 0'
done
holds out 1 cog 'v == "EXPLORE"'
holds out 3 cog 'v == "RETRIEVE"'
holds out 3 calls 'v == 0'
holds out 3 sim 'v == 1'
holds out 3 traj 'v == 2'
holds out 4 cog 'v == "AUGMENT"'
holds out 5 traj 'v == 4'
holds out 5 metric "v > $(figure 1 metric out)"
answer() { sed -n "/^turn=$1 /{n;p;}" "$2"; }
[ "$(answer 1 out)" = "$(answer 3 out)" ] || fail "another answer to the same question"

# a new process knows what the old one knew, and a retrieved turn leaves all but the log
head -1 five >first
"$hexrig" isagi --script first --state mind.miku >again
holds again 1 calls 'v == 0'
holds again 1 traj 'v == 4'
[ "$(answer 1 again)" = "$(answer 1 out)" ] || fail "the state has another answer"

# the next answer is the same on a rig whose DSP was killed
echo "The garden behind the house" >next
cp mind.miku one.miku
cp mind.miku two.miku
"$hexrig" isagi --script next --state one.miku >before
"$hexrig" up >/dev/null
up=1
"$hexrig" isagi --script first --state two.miku >/dev/null
cp mind.miku two.miku
kill -9 "$("$hexrig" status | sed -n 's/^dsp_pid=//p')"
"$hexrig" isagi --script next --state two.miku >after
[ "$(answer 1 before)" = "$(answer 1 after)" ] && [ -n "$(answer 1 after)" ] || fail "another answer behind a DSP that was killed"
cmp one.miku two.miku || fail "another state behind a DSP that was killed"
"$hexrig" down >/dev/null
up=

# one byte of it
cp mind.miku bad.miku
printf x | dd of=bad.miku bs=1 seek=5000 conv=notrunc status=none
cp bad.miku kept.miku
rc=0
"$hexrig" isagi --script five --state bad.miku --kv f32 >damaged 2>err || rc=$?
[ "$rc" = 1 ] && [ ! -s damaged ] && grep -q 'damaged: its checksum' err && [ "$(wc -l <err)" = 1 ] || fail "$(cat err)"
cmp bad.miku kept.miku
# a memory without a forbidden topic needs prompts for its basis alone, of one topic too; a topic is told from others
sed '2,$s/^#.*//' "$build/share/hexrig/topics.txt" >one_topic
"$hexrig" isagi --script first --prompts one_topic --kv f32 >out2
holds out2 1 teh 'v == 0'
rc=0
"$hexrig" isagi --script first --prompts one_topic --forbid weather --kv f32 >out2 2>err || rc=$?
[ "$rc" = 1 ] && grep -q '1 topics; 2 are needed' err && [ "$(wc -l <err)" = 1 ] || fail "$(cat err)"
# a server says of a request what isagi would say of its question, with a guard's figures where there are any
"$hexrig" guard build --topic weather --most 1 --budget 100 -o weather.guard >guard
cp mind.miku served.miku
"$hexrig" serve --kv f32 --port 0 --parallel 1 --chat chatml --guard weather.guard --guard-mode monitor --state served.miku >url 2>serve.err &
server=$!
for _ in $(seq 300); do
    grep -q url= url && break
    sleep .1
done
seen() { # PATH BODY: the header of the reply
    python3 - "$(sed -n 's/^url=//p' url)" "$1" "$2" <<'END'
import sys, urllib.request
request = urllib.request.Request(sys.argv[1] + "/v1/" + sys.argv[2], sys.argv[3].encode(), {"Content-Type": "application/json"})
with urllib.request.urlopen(request) as reply:
    print(reply.headers["X-Hexrig-Guard"])
    reply.read()
END
}
little='"max_tokens": 1, "temperature": 0'
figures='teh=[0-9.]* mean=[0-9.]* states=[0-9]* told=[0-9]* projected=0'
while read -r question; do
    echo "$question" >question
    cp mind.miku copy.miku
    "$hexrig" isagi --script question --state copy.miku --kv f32 >out2
    want="cog=$(figure 1 cog out2) sim=$(figure 1 sim out2)"
    whole=$(seen completions "{\"prompt\": \"$question\", $little}")
    echo "$whole" | grep -qx "$figures $want" || fail "serve says '$whole' of '$question', isagi '$want'"
    chat="{\"messages\": [{\"role\": \"system\", \"content\": \"Be brief.\"}, {\"role\": \"user\", \"content\": \"$question\"}], $little"
    [ "$(seen chat/completions "$chat, \"stream\": true}")" = "$want" ] || fail "a stream says another thing than '$want'"
done <<'END'
The king was
The king was a
A symphony by Mozart
END
kill "$server"
wait "$server" || fail "serve: $(cat serve.err)"
server=
cmp mind.miku served.miku || fail "a server changed a memory"
rc=0
"$hexrig" serve --kv f32 --port 0 --state bad.miku >out2 2>err || rc=$?
[ "$rc" = 1 ] && grep -q 'damaged: its checksum' err && [ "$(wc -l <err)" = 1 ] || fail "$(cat err)"
# forbidden coordinates are looked at, and what a topic can spare goes
"$hexrig" isagi --script next --state forbid.miku --forbid garden --kv f32 >forbid
holds forbid 1 teh 'v > 1 && v < 100'
holds forbid 1 mean "v > .1 && v < $(figure 1 teh forbid)"
rc=0
"$hexrig" isagi --script next --state forbid.miku --forbid garden --kv f32 >out2 2>err || rc=$?
[ "$rc" = 2 ] && grep -q 'of a new memory' err || fail "$(cat err)"
# a question's point loses spare coordinates before the metric grows by it, after that, or not at all; recognition is as it was
cat next next >twice
for where in off before after; do
    "$hexrig" isagi --script twice --state $where.miku --forbid garden --kv f32 --snipe-at $where >$where
    holds $where 2 cog 'v == "RETRIEVE"'
done
whole=$(figure 1 pre off)
holds off 1 post "v > 1 && v == $whole"
holds before 1 pre "v < $whole"
holds before 1 post "v == $(figure 1 pre before)"
holds after 1 pre "v == $whole"
holds after 1 post "v == $(figure 1 post before)"
! cmp -s before.miku after.miku || fail "the same memory before and after"
rc=0
"$hexrig" isagi --script next --state mind.miku --kv f32 --snipe-at before >out2 2>err || rc=$?
[ "$rc" = 2 ] && grep -q 'snipe-at before: ' err && [ "$(wc -l <err)" = 1 ] || fail "$(cat err)"
echo "isagi: $(figure 1 calls out) calls, then $(figure 3 calls out)"
