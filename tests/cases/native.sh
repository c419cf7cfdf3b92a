#!/bin/sh
# `hexrig native` as people use it: matrices are fitted, go into a file, grow from it, and an engine applies them; what is foreign, damaged or
# cannot be is refused in one line, and then nothing is written.  Usage: native.sh [BUILD]
set -eu
build=$(cd "${1:-build}" && pwd)
hexrig=$build/bin/hexrig
text=$build/share/hexrig/books-holdout.txt
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_RUNTIME_DIR="$dir"
cd "$dir"

die() {
    echo "native: $*" >&2
    exit 1
}
# refused CODE WORDS COMMAND...: one line on stderr that has the words
refused() {
    want=$1 words=$2 rc=0
    shift 2
    "$hexrig" "$@" >out 2>err || rc=$?
    [ $rc = "$want" ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -qF -e "$words" err || die "$*: exit $rc: $(cat out err)"
}
value() { sed -n "s/^$1=//p" out; }

# --- fit
"$hexrig" native fit --matrices wk --k 32 -o fitted >out 2>err
[ "$(value params)" = $((6 * (32 * 32 + 32 * 384))) ] || die "parameters: $(cat out)"
[ "$(value rises)$(value below_the_bound)" = 00 ] || die "losses: $(cat out)"
[ "$(value file)" = fitted/native.nat ] || die "no file is named"
awk -v x="$(value least_share_of_ceiling)" 'BEGIN { exit !(x >= .98 && x <= 1) }' || die "ceiling: $(cat out)"
cp fitted/native.nat first
"$hexrig" native fit --matrices wk --k 32 -o fitted >out 2>err
cmp fitted/native.nat first || die "the same fit made another file"
"$hexrig" native fit --matrices wk --k 32 --steps 5 --json >out 2>err
grep -q '^{.*"each": \[{"matrix": "wk", "layer": 0, "k": 32,' out || die "no JSON: $(cat out)"

# --- growth, from the file
"$hexrig" native expand --from fitted/native.nat --matrices wk --k-max 48 --grow 16 -o grown >out 2>err
[ "$(value rises)$(value below_the_bound)" = 00 ] || die "growth: $(cat out)"
awk -v a="$(value wk.k_32.loss)" -v b="$(value wk.k_48.loss)" 'BEGIN { exit !(b < a) }' || die "no less loss: $(cat out)"

# --- an engine applies it
"$hexrig" run -p x -n 1 --kv f32 --linear native --native-file grown/native.nat >out 2>err
[ "$(value native.matrices)" = 6 ] && [ "$(value native.wk.k)" = 48 ] || die "what was applied: $(cat out)"

# --- the table: published counts
"$hexrig" native table --k 64 --no-ppl --vtcm-kib 8192,512 >out 2>err
[ "$(value published.1536x8960_k_32.params)" = 336896 ] && [ "$(value published.1536x8960_k_128.params)" = 1359872 ] || die "counts: $(cat out)"
[ "$(value k_fit_8192_kib.one_layer)" -gt "$(value k_fit_512_kib.one_layer)" ] || die "k_fit: $(cat out)"
echo "ok fits, files, tables"

# --- what cannot be
head -c 5000 grown/native.nat >cut
sed 's/a/b/' grown/native.nat >changed
cmp -s changed grown/native.nat && die "no byte was changed"
refused 1 "changed: damaged" native expand --from changed
refused 1 "cut: damaged" run -p x --kv f32 --linear native --native-file cut
refused 1 "no file of matrices in k dimensions" native expand --from "$text"
refused 1 "missing.nat" native expand --from missing.nat
refused 1 "none of the matrices that were asked for" native expand --from grown/native.nat --matrices wq
refused 2 "--matrices: unknown value 'out'" native fit --matrices out
refused 2 "--k: unknown value '0'" native fit --k 0
refused 2 "above --k-max 16" native expand --k-max 16
refused 2 "exclude each other" native table --no-ppl --text "$text"
refused 2 "exclude each other" run -p x --linear native --native-k 8 --native-file first
refused 2 "needs --linear native" run -p x --native-k 8
mkdir taken
echo "somebody's" >taken/native.nat
rc=0
"$hexrig" native fit --matrices wk --k 1 --steps 1 -o taken >out 2>err || rc=$?
[ $rc = 1 ] && [ "$(cat taken/native.nat)" = "somebody's" ] || die "a file of something else was replaced: $(cat err)"
[ -z "$(find . -name '*.part')" ] || die "parts are left"
echo "ok refusals"
