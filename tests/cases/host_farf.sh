#!/bin/sh
# FARF() of a host program: with hexrig's header, and by the weak functions that Qualcomm's header looks for, a message is a line on
# stderr; what is not compiled in appears when HEXRIG_FARF says so.  Usage: host_farf.sh BUILD
set -eu
build=$(cd "$1" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/ours.c" <<'END'
#include <HAP_farf.h>
int main(void)
{
    FARF(ALWAYS, "always %d", 1);
    FARF(HIGH, "high %s", "2");
    FARF(RUNTIME_ERROR, "runtime 3");
    FARF(ERROR, "error 4");
    return 0;
}
END
# what that header does: it asks whether the functions are there, and calls them by level
cat >"$dir/theirs.c" <<'END'
#include <rpcmem.h>
#include <stddef.h>
void HAP_debug_v2(int level, const char *file, int line, const char *format, ...);
void HAP_debug_runtime(int level, const char *file, int line, const char *format, ...);
#pragma weak HAP_debug_v2
#pragma weak HAP_debug_runtime
int main(void)
{
    if (rpcmem_to_fd(NULL) != -1) /* what the program has the library for */
        return 2;
    if (HAP_debug_v2 == NULL || HAP_debug_runtime == NULL)
        return 1;
    HAP_debug_v2(2, "dir/theirs.c", 9, "high %d", 5);
    HAP_debug_runtime(0, "dir/theirs.c", 10, "low %d", 6);
    return 0;
}
END
for f in ours theirs; do
    ${CC:-gcc} -Wall -Werror "$dir/$f.c" -I"$build/include/hexrig" -L"$build/lib" -Wl,-rpath,"$build/lib" -lcdsprpc -o "$dir/$f"
done
expect() { # expect PROGRAM LEVEL LINES
    HEXRIG_FARF=$2 "$dir/$1" 2>"$dir/err" >"$dir/out"
    [ ! -s "$dir/out" ] || { echo "$1: a message on stdout" >&2; exit 1; }
    printf '%s\n' "$3" | cmp -s - "$dir/err" || { echo "$1, HEXRIG_FARF=$2: '$(cat "$dir/err")', want '$3'" >&2; exit 1; }
}
unset HEXRIG_FARF
expect ours none "libcdsprpc: ALWAYS: ours.c:4: always 1
libcdsprpc: ERROR: ours.c:7: error 4"
expect ours HIGH "libcdsprpc: ALWAYS: ours.c:4: always 1
libcdsprpc: HIGH: ours.c:5: high 2
libcdsprpc: ERROR: ours.c:6: runtime 3
libcdsprpc: ERROR: ours.c:7: error 4"
expect theirs none "libcdsprpc: HIGH: theirs.c:9: high 5"
expect theirs LOW "libcdsprpc: HIGH: theirs.c:9: high 5
libcdsprpc: LOW: theirs.c:10: low 6"
echo "2 programs"
