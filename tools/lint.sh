#!/bin/sh
# make lint: the style of the sources.  Usage: tools/lint.sh [--fix]
#
# Every text file: no tab, no space at the end of a line, a newline at the end; C: no line over $width columns.
# C in the folders of $formatted: as .clang-format has it (100 columns for code); --fix rewrites what is not.
# Exit codes: 0 all is well, 1 something is not, 77 clang-format 14 is not here (other versions write other lines).
set -eu
cd "$(dirname "$0")/.."
width=140
all="rpc dsp fuse host kernels tools tests docs/examples"
formatted= # no folder until its files were formatted once
# tables, one entry per line or of a machine's making, whose columns are the point
tables='listing\.h$|/unicode_table\.h$|/hexrig_hvx_|/hexrig_scalar|_protos\.h$|/memory_cases\.h$|/timing_rows\.c$|_opts\.h$'

sources() { # sources DIR...: hand-written text there; what tests/data holds is data
    find "$@" -path tests/data -prune -o -type f \( -name '*.[ch]' -o -name '*.inc' -o -name '*.sh' -o -name '*.awk' \
        -o -name '*.idl' -o -name '*.map' -o -name '*.in' \) -print | LC_ALL=C sort
}
c_sources() {
    sources "$@" | grep '\.[ch]$' | grep -Ev "$tables"
}
# plain: lines "FILE:LINE: what is wrong"
plain() {
    tab=$(printf '\t')
    sources $all | xargs grep -n "$tab" /dev/null | sed 's/^\([^:]*:[0-9]*\):.*/\1: a tab/'
    { sources $all; ls Makefile README.md docs/*.md; } | xargs grep -n '[[:space:]]$' /dev/null |
        sed 's/^\([^:]*:[0-9]*\):.*/\1: space at the end of the line/'
    sources $all | while read -r f; do
        [ -z "$(tail -c 1 "$f")" ] || echo "$f: no newline at the end"
    done
    c_sources $all | xargs awk -v width=$width 'length > width { print FILENAME ":" FNR ": more than " width " columns" }'
}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
plain >"$dir/wrong"
tool=$(command -v clang-format-14 || command -v clang-format || :)
case $([ -z "$tool" ] || "$tool" --version) in
*' 14.'*) ;;
*) tool= ;;
esac
if [ -n "$formatted" ] && [ -n "$tool" ]; then
    c_sources $formatted >"$dir/files"
    [ "${1:-}" != --fix ] || xargs "$tool" -i <"$dir/files"
    xargs "$tool" --dry-run <"$dir/files" 2>&1 | sed -n 's/^\([^ ]*:[0-9]*\):[0-9]*: .*/\1: not as .clang-format has it/p' |
        uniq >>"$dir/wrong"
fi
cat "$dir/wrong"
[ ! -s "$dir/wrong" ] || exit 1
[ -n "$tool" ] || { echo "skip: no clang-format 14, so only tabs, spaces and long lines were looked at"; exit 77; }
