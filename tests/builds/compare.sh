#!/bin/sh
# Modelled figures do not depend on how hexrig was compiled: builds at -O1 and -O2, for x86-64-v3 and by clang give the answers that BUILD
# gives.  Calls, packets and bytes of arguments are the same; of skels the code that has no listing is costed as it was compiled, so that
# times may differ by 0.5 %, and what it finds in L2 or DDR by 5 %.  clang does not trace loads and stores, so that its hexrig, driver and
# DSP work with BUILD's skels.
# Usage: compare.sh BUILD [VARIANT...]: each is made in BUILD/builds/VARIANT, which takes minutes the first time.
set -eu
build=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- O1 O2 v3 clang
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if grep -q -e -fsanitize -e clang "$build/obj/cc.flags"; then
    exec sh tests/skip.sh "only gcc traces loads and stores, and not for a sanitizer"
fi

questions() { # questions HEXRIG
    "$1" density --pos 0,1,16 --csv
    "$1" density --pos 5 --kv f32 --offload linear,argmax --sweep placement=ddr,vtcm,dma,resident --csv
    "$1" density --pos 9 --offload attn --density per-layer,batched --profile s22u-sync --csv
    "$1" density --geometry qwen3-4b --density batched,queue --pos 2,300 --csv
}

compare() { # compare FILE FILE: of CSV, whose heads name the columns
    paste -d '|' "$1" "$2" | awk -F'|' '
        { n = split($1, a, ","); if (split($2, b, ",") != n) { print; bad = 1; next } }
        a[n] == "vtcm_bytes" { for (i = 1; i <= n; i++) name[i] = a[i] }
        { for (i = 1; i <= n; i++) {
              most = name[i] ~ /_us$/ ? 0.005 : name[i] ~ /^(ddr|dma|l2|vtcm)_bytes$/ ? 0.05 : 0
              off = a[i] - b[i]; if (off < 0) off = -off
              if (a[i] != b[i] && off > most * b[i]) { print name[i] ": " $1 " | " $2; bad = 1 }
          } }
        END { exit bad }'
}

make_variant() { # make_variant NAME: with what make takes for it
    case $1 in
    O1) set -- "$1" OPT=-O1 ;;
    O2) set -- "$1" OPT=-O2 ;;
    v3) set -- "$1" MARCH=x86-64-v3 ;;
    clang) set -- "$1" "CC=${HXT_CLANG:-clang-19}" ;;
    *) echo "builds: unknown variant '$1'; legal: O1, O2, v3, clang" >&2 && exit 2 ;;
    esac
    name=$1
    shift
    env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -j2 BUILD="$build/builds/$name" "$@" all >"$dir/make" 2>&1 ||
        { echo "builds: $name: make $* failed" >&2 && tail -5 "$dir/make" >&2 && exit 1; }
}

questions "$build/bin/hexrig" >"$dir/figures"
grep -q '^batched,16,counted,12,' "$dir/figures" || { echo "builds: no figures" >&2 && cat "$dir/figures" >&2 && exit 1; }
compared=
for variant; do
    if [ "$variant" = clang ] && ! command -v "${HXT_CLANG:-clang-19}" >/dev/null; then
        echo "builds: no ${HXT_CLANG:-clang-19}, so its build is not compared"
        continue
    fi
    make_variant "$variant"
    skels=$build/builds/$variant/lib
    [ "$variant" != clang ] || skels=$build/lib
    DSP_LIBRARY_PATH=$skels questions "$build/builds/$variant/bin/hexrig" >"$dir/figures.$variant"
    compare "$dir/figures" "$dir/figures.$variant" >&2 || { echo "builds: $build and $variant differ" >&2 && exit 1; }
    compared="$compared $variant"
done
echo "builds: $(wc -l <"$dir/figures") lines of figures, those of $build also in builds$compared"
