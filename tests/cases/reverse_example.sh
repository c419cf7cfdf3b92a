#!/bin/sh
# The example of docs/reverse.md builds without a warning, and its skel reads what the page says of its host, and nothing else: also when
# its fopen() is called fopen64().  Skels whose libraries call fopen() have a listener when those lie beside them, and only then.
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

# shellcheck disable=SC2046 # several words
skel() { # skel NAME OPTION...
    name=$1
    shift
    gcc -O2 -march=native $(pkg-config --cflags hexrig-skel) "$@" $(pkg-config --libs hexrig-skel) -o "lib${name}_skel.so"
}
skel words -D_FILE_OFFSET_BITS=64 words_skel.c
nm -D --undefined-only libwords_skel.so | grep -q fopen64
mkdir ../files # which the PD does not see by itself
echo "of another folder" >../files/far.txt
got=$(DSP_LIBRARY_PATH=. HEXRIG_HOST_FILES=../files ./words far.txt)
[ "$got" = "far.txt: of another folder" ] || { echo "fopen64() is not fopen(): $got"; exit 1; }

cat >threads.c <<'END'
#include <dirent.h>
#include <remote.h>
#include <stdio.h>

static int threads(void)
{
    DIR *d = opendir("/proc/self/task");
    int n = 0;

    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* How many threads the opening of a skel makes. */
int main(int argc, char **argv)
{
    remote_handle h;
    int before = threads(), rc = argc == 2 ? remote_handle_open(argv[1], &h) : -1;

    printf("%d\n", rc ? rc : threads() - before);
    return rc || remote_handle_close(h);
}
END
cat >beside.c <<'END'
#include <stdio.h>

int beside(const char *name);

int beside(const char *name)
{
    FILE *f = fopen(name, "r");

    return f ? fclose(f) : -1;
}
END
cat >leans.c <<'END'
#include <remote.h>

int beside(const char *name);
int FUNCTION(uint32_t sc, remote_arg *pra);

int FUNCTION(uint32_t sc, remote_arg *pra)
{
    (void)pra;
    return sc ? beside("hello.txt") : 0;
}
END
# shellcheck disable=SC2046
gcc -O2 threads.c $(pkg-config --cflags --libs hexrig-rpc) -o threads
mkdir elsewhere
gcc -O2 -shared -fPIC beside.c -o libbeside.so
gcc -O2 -shared -fPIC beside.c -o elsewhere/libelsewhere.so
# shellcheck disable=SC2016 # the loader's own variable
skel leans -DFUNCTION=leans_skel_invoke leans.c -L. -lbeside '-Wl,-rpath,$ORIGIN'
# shellcheck disable=SC2016
skel far -DFUNCTION=far_skel_invoke leans.c -Lelsewhere -lelsewhere '-Wl,-rpath,$ORIGIN/elsewhere'
for want in leans:1 far:0; do
    got=$(DSP_LIBRARY_PATH=. ./threads "${want%:*}")
    [ "$got" = "${want#*:}" ] || { echo "${want%:*}: $got threads more, not ${want#*:}"; exit 1; }
done
