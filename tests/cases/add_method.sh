#!/bin/sh
# docs/add-a-method.md, done: its files and lines are taken from the page, added to a copy of the sources and built, and both
# methods work from the command line and from C.  Nothing but the new folders and the lines differs from the sources.
# Usage: add_method.sh BUILD
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
page=$src/docs/add-a-method.md
command -v pkg-config >/dev/null || { echo "skip: no pkg-config"; exit 77; }
command -v python3 >/dev/null || { echo "skip: no python3, which reads the reports"; exit 77; }
# no flags of a make that runs this
unset HEXRIG_DEVICE HEXRIG_LIBEXEC HEXRIG_FARF MAKEFLAGS MAKELEVEL MFLAGS
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/run"
export XDG_RUNTIME_DIR="$dir/run"
tree=$dir/tree
. "$src/tests/lib/page.sh"
parts="Makefile dsp fuse host kernels rpc tools"

fail() {
    echo "add_method: $*"
    exit 1
}

# --- a copy of what `make all` reads, and of what it has made of that
mkdir "$tree" "$tree/build" "$dir/page"
tar -C "$src" -cf - $parts | tar -C "$tree" -xf -
tar -C "$build" --exclude=obj/tests -cf - obj gen bin lib libexec share include | tar -C "$tree/build" -xf -

# --- the page's files, and what it adds to others
page_blocks "$page" "$dir/page"

# A block of two lines: " BEFORE" and "+ADDED", which goes behind the only line BEFORE of the file.  (How far the backslashes of
# a list are to the right does not matter.)
add_line() {
    awk 'function words(s) { gsub(/ +/, " ", s); return s }
        NR == FNR { if (/^ /) before = words(substr($0, 2)); if (/^\+/) added = substr($0, 2); lines++; next }
        { print }
        words($0) == before { print added; found++ }
        END { exit !(lines == 2 && added && found == 1) }' "$1" "$2" >"$dir/new" ||
        fail "$2: this is no line behind a line of it: $(cat "$1")"
    # Objects depend on the Makefile, which has a line more for nobody else: it keeps its age, so that only what is new is compiled.
    [ "${2##*/}" != Makefile ] || touch -r "$2" "$dir/new"
    cp -p "$dir/new" "$2"
}

n=0
while read -r name kind; do
    n=$((n + 1))
    case $name in
    */* | Makefile) to=$tree/$name ;;
    *) to=$dir/$name ;;
    esac
    mkdir -p "${to%/*}"
    if [ "$kind" = line ]; then
        add_line "$dir/page/$n" "$to"
    else
        [ ! -e "$to" ] || fail "$name is in the sources already"
        cp "$dir/page/$n" "$to"
        echo "$name: $(wc -l <"$to") lines"
    fi
done <"$dir/page/list"

# --- `all` of it, with the flags of BUILD
flag() { # flag FILE SED-EXPRESSION
    sed -n "$2" "$build/obj/$1"
}
cc=$(flag cc.flags 's/ -std=gnu11 .*//p')
make -j2 -C "$tree" BUILD=build CC="$cc" OPT="$(flag cc.flags 's/.* -std=gnu11 \(.*\) -g -march=.*/\1/p')" \
    MARCH="$(flag cc.flags 's/.* -march=\([^ ]*\).*/\1/p')" SAN="$(flag cc.flags 's/.* -fsanitize=\([^ ]*\).*/\1/p')" \
    CFLAGS="$(flag cc.flags 's/.*-D_GNU_SOURCE *//p')" all >"$dir/log" 2>&1 || { cat "$dir/log"; fail "make"; }
! grep -i warning "$dir/log" || fail "the page's files compile with warnings"
echo "compiled: $(sed -n 's/^ *CC *//p' "$dir/log" | LC_ALL=C sort | paste -sd' ')"

# --- nothing else has changed
(cd "$tree" && for p in $parts; do diff -rq "$src/$p" "$p" || :; done) | sed "s|$src/||" | LC_ALL=C sort >"$dir/changed"
cat >"$dir/want" <<'END'
Files Makefile and Makefile differ
Files host/engine/methods.c and host/engine/methods.c differ
Only in host/methods: qf32
Only in host/methods: sinks
Only in kernels: qf32
END
diff "$dir/want" "$dir/changed" || fail "other files are to be changed than a folder and a line, or two of each"
for f in Makefile:1 host/engine/methods.c:2; do
    diff "$src/${f%:*}" "$tree/${f%:*}" >"$dir/diff" || :
    [ "$(grep -c '^>' "$dir/diff")" = "${f#*:}" ] && ! grep -q '^<' "$dir/diff" || { cat "$dir/diff"; fail "$f lines"; }
done

# --- the commands
bin=$tree/build/bin/hexrig
value() { # value FILE KEY.KEY: of a report
    python3 -c 'import functools, json, sys
v = functools.reduce(lambda j, k: j[k], sys.argv[2].split("."), json.load(open(sys.argv[1])))
print(v if isinstance(v, str) else json.dumps(v))' "$dir/$1" "$2"
}
same() { # same WHAT HAVE WANT
    [ "$2" = "$3" ] || fail "$1: $2, and not $3"
    echo "$1: $2"
}
run() { # run NAME OPTION...: its report is the file NAME
    name=$1
    shift
    "$bin" run -p "The king was" -n 24 --temp 0 --json "$@" >"$dir/$name" 2>"$dir/err" || { cat "$dir/err"; fail "run $*"; }
}

# perplexities take long
cd "$dir"
page_shown "$tree/build" "$page" 'hexrig ppl'

run ref --kv f32 --attn ref
run wide --kv f32 --attn sinks --sink-window 512
run narrow --kv f32 --attn sinks --sink-window 4
same "text of a window wider than it is that of --attn ref" "$(value wide text)" "$(value ref text)"
[ "$(value narrow text)" != "$(value ref text)" ] || fail "a window of 4 changes nothing"
same "attn" "$(value narrow attn)" sinks
same "options" "$(value narrow options)" '{"sink-window": "4"}'
same "front end without a DSP" "$(value narrow front_end) $(value narrow profile)" "none none"
run exact --kv f32 --linear ref
run qf32 --kv f32 --linear qf32
same "text of --linear qf32 is that of --linear ref" "$(value qf32 text)" "$(value exact text)"
same "linear" "$(value qf32 linear)" qf32
same "matrices" "$(value qf32 qf32.matrices)" 43
[ "$(value qf32 front_end)" != none ] && same "profile" "$(value qf32 profile)" s22u-577
run some --kv f32 --linear cpu,ffn_down@2-3=qf32
same "calls per token of two matrices" "$(value some dispatch.calls_per_token)" 2.0
refused() { # refused WORDS OPTION...: exit code 2, with these words
    words=$1 code=0
    shift
    "$bin" run -p x "$@" 2>"$dir/err" || code=$?
    [ "$code" = 2 ] && grep -qF -e "$words" "$dir/err" || { cat "$dir/err"; fail "$* is not refused with '$words'"; }
}
refused "--offload argmax: linear method qf32 of the output matrix cannot choose without the logits" \
    --linear cpu,attn=dsp:ddr,ffn=dsp:vtcm,out=qf32 --offload argmax
refused "--offload linear=wq: linear method qf32 has nothing to move to the DSP" --linear cpu,wq=qf32 --offload linear=wq

# --- the calls: as the trace has them, as the driver counts them, and as the formula says
"$bin" trace -o "$dir/trace" -- run -p "The king was" -n 24 --temp 0 --kv f32 --linear qf32 --json >"$dir/traced" 2>"$dir/err" ||
    { cat "$dir/err"; fail "trace"; }
same "slices of apply and calls of the report" "$(grep -c '"name": "qf32\.apply", .*"result": "0x0"' "$dir/trace")" \
    $(($(value traced dispatch.calls) + $(value traced prefill.calls)))
same "text of the traced run" "$(value traced text)" "$(value qf32 text)"
# and two methods on the DSP at a time, a cache and matrices
"$bin" trace -o "$dir/trace" -- run -p "The king was" -n 4 --linear qf32 --attn sinks --json >"$dir/traced" 2>"$dir/err" ||
    { cat "$dir/err"; fail "trace"; }
same "slices of qf32's apply, encode and decode of spinor, and calls" \
    "$(grep -c '"name": "\(qf32\|sp_hex\)\..*"method": [3-9], "result": "0x0"' "$dir/trace")" \
    $(($(value traced dispatch.calls) + $(value traced prefill.calls)))
"$bin" density --pos 16 --density batched --linear qf32 --json >"$dir/density"
python3 - "$dir/density" <<'END' || fail "the formula for calls"
import json, sys
row = json.load(open(sys.argv[1]))["rows"][0]
print("calls per token, counted and by formula:", row["calls_per_token"], row["formula_calls_per_token"])
sys.exit(row["calls_per_token"] != row["formula_calls_per_token"])
END

# --- from C, with what that build installs
export PKG_CONFIG_PATH="$tree/build/lib/pkgconfig"
${CC:-gcc} -std=c99 -Wall -Wextra -Werror "$dir/client.c" $(pkg-config --cflags --libs hexrig) -Wl,-rpath,"$tree/build/lib" -o "$dir/client"
for a in "attn sinks sink-window=4" "linear qf32"; do
    "$dir/client" $a >"$dir/text"
    case $a in attn*) name=narrow ;; *) name=qf32 ;; esac
    same "text by the C API, $a" "$(cat "$dir/text")" "$(value $name text)"
done
! "$dir/client" attn sinks sink-windows=4 2>"$dir/err" || fail "the C API takes an unknown option"
same "an option that there is not" "$(cat "$dir/err")" "client: sink-windows: there is no such option"
