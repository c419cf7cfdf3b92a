#!/bin/sh
# The example of docs/reverse.md builds without a warning, and its skel reads what the page says of its host, and nothing else.
# Usage: reverse_example.sh BUILD
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
command -v pkg-config >/dev/null || { echo "skip: no pkg-config"; exit 77; }
export PKG_CONFIG_PATH="$build/lib/pkgconfig"
unset HEXRIG_DEVICE HEXRIG_FARF DSP_LIBRARY_PATH ADSP_LIBRARY_PATH HEXRIG_HOST_FILES
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/work"
cd "$dir/work"
export XDG_RUNTIME_DIR="$dir"
echo "not for the DSP" >../hello.txt

# The fenced block whose opening line ends in NAME.
block() {
    awk -v name="$1" '/^```/ { on = !on && $NF == name && NF > 1; next } on' "$src/docs/reverse.md"
}
block words_skel.c >words_skel.c
block words.c >words.c
block build | sed 's/^gcc /gcc -Wall -Wextra -Werror /' >build.sh
[ -s words_skel.c ] && [ -s words.c ] && [ -s build.sh ]
sh -eu build.sh >out 2>err || { cat out err; exit 1; }
[ "$(wc -l <out)" = 3 ] || { cat out err; exit 1; }
while read -r line; do
    grep -qxF "$line" "$src/docs/reverse.md" || { echo "the page does not show: $line"; exit 1; }
done <out
