#!/bin/sh
# Builds question_skel.c and ask.c in a folder of their own and asks.  Wants hexrig's pkg-config files in PKG_CONFIG_PATH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
gcc -O2 -march=native $(pkg-config --cflags hexrig-skel) "$here/question_skel.c" $(pkg-config --libs hexrig-skel) -o "$dir/libquestion_skel.so"
gcc -O2 "$here/ask.c" $(pkg-config --cflags --libs hexrig-rpc) -o "$dir/ask"
DSP_LIBRARY_PATH=$dir "$dir/ask"
