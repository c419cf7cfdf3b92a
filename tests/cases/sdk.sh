#!/bin/sh
# The SDK-shaped prefix: what hexagon-clang does with inline assembly and command lines of the Hexagon's compiler; and a project as those of
# Qualcomm's SDK are written (docs/examples/calculator: IDL, stub, skel, client) configures and builds unchanged, and runs.
# Usage: sdk.sh BUILD
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
unset HEXRIG_DEVICE HEXRIG_LIBEXEC HEXRIG_FARF DSP_LIBRARY_PATH ADSP_LIBRARY_PATH LD_LIBRARY_PATH HEXRIG_CFLAGS HEXRIG_CC HEXRIG_CXX
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_RUNTIME_DIR="$dir" TMPDIR="$dir"
cd "$dir"
sdk=$build/share/hexrig/sdk
clang=$sdk/tools/Tools/bin/hexagon-clang
flags="-mcpu=v73 -mv73 -mhvx=v73 -mhmx -G0 -fvectorize -flto -fdata-sections -Wall -Werror -O1 -g"

# --- what is refused, FILE:LINE: error: TEXT, with nothing written
refused() { # LINE TEXT [SUFFIX]: the source on stdin
    name=bad.${3:-c}
    cat >"$name"
    rc=0
    $clang -c "$name" -o bad.o 2>err || rc=$?
    [ $rc = 1 ] && [ ! -e bad.o ] && grep -q "^$name:$1 error: .*$2" err || { cat err; echo "not refused: $2"; exit 1; }
}
refused 4: "'v0=vmem(%0)' is not among the instructions" <<'END'
void f(void *p)
{
    asm volatile("syncht\n"
                 "v0 = vmem(%0)" : : "r"(p));
}
END
refused 3: "'syncht;pause(#1)'" <<'END'
void f(void)
{
    asm volatile("{ syncht; pause(#1) }");
}
END
refused 1: "a packet is not closed" <<'END'
void f(void) { asm("{ syncht"); }
END
refused 1: "'%3=dmpoll'" <<'END'
void f(unsigned u) { asm("%3 = dmpoll" : "=r"(u)); }
END
refused 1: "asm goto" <<'END'
void f(void) { asm goto("syncht" : : : : out); out: return; }
END
refused "" "files of assembly" S </dev/null
echo "ok refused"

# --- all instructions, in C and C++; the lines behind them keep their numbers, for messages and for debuggers
cat >all.c <<'END'
#define LOAD(a, w, r) "{\n activation.hf = mxmem(" a ", " r "):deep\n weight.hf = mxmem(" w ", " r ")\n}\n"
extern int renamed(int) __asm__("other_name");
unsigned long long all(unsigned *p, unsigned char *q, int n)
{
    unsigned long long c15 = 0, c19 = 0, c31 = 0;
    unsigned u = 0, w = 0;
    asm volatile(" %0 = c15:14\n" : "=r"(c15));
    asm volatile("%0 = c19:18\n" "%[time] = c31:30" : "=r"(c19), [time] "=r"(c31));
    if (n)
        asm volatile("pause(#255)");
    else
        __asm__ __volatile__("pause(#%0)" : : "i"(7));
    asm volatile("syncht" : : : "memory");
    asm volatile("release(%0):at // the descriptor\n dmstart(%0)" : : "r"(p++));
    asm volatile("dmlink(%0, %1)" : : "r"(p), "r"(q) : "memory"); asm volatile("%0 = dmpoll" : "=r"(u));
    asm volatile("%0 = dmwait" : "=r"(w));
    asm volatile("bias = mxmem2(%0); mxclracc.hf" :: "r"(q));
    asm volatile(LOAD("%1", "%2", "%0")
                 "{ weight.hf = mxmem(%2, %0); activation.hf = mxmem(%1, %0) }"
                 :
                 : "r"(2047), "r"(q + 2048),
                   "r"(p));
    asm volatile("mxmem(%0, %1):after.hf = acc" : : "r"(q), "r"(0));
    asm volatile("" : "+r"(n) : : "memory");
    return c15 + c19 + c31 + u + w + renamed(n) + __LINE__;
}
END
cp all.c all.cc
want="hexrig_asm_dmlink hexrig_asm_dmpoll hexrig_asm_dmstart hexrig_asm_dmwait hexrig_asm_hmx_bias hexrig_asm_hmx_clear
hexrig_asm_hmx_multiply hexrig_asm_hmx_store hexrig_asm_pause hexrig_asm_pktcount hexrig_asm_upcycle hexrig_asm_utimer other_name"
both="all.c all.cc"
command -v g++ >/dev/null || { both=all.c; echo "no g++: instructions in C only"; }
for name in $both; do
    # shellcheck disable=SC2086
    case $name in
    *.cc) $clang++ $flags -MMD -c $name -o $name.o ;;
    *) $clang $flags -MMD -c $name -o $name.o ;;
    esac
    have=$(nm -u $name.o | awk '$2 ~ /^hexrig_|^other/ { print $2 }' | LC_ALL=C sort)
    [ "$have" = "$(echo "$want" | tr ' ' '\n')" ] || { echo "$name: $have"; exit 1; }
    grep -q "^$name.o: $name" $name.d
    objdump --dwarf=decodedline $name.o >lines
    for line in 7 10 15 18 23 25; do
        grep -q "^$name  *$line " lines || { echo "$name: line $line has no debug information"; exit 1; }
    done
done
# p++ happens once, although its instructions are two
# shellcheck disable=SC2086
$clang $flags -S all.c -o all.s && grep -q dmstart all.s
sed '25s/^/    undeclared = 1;/' all.c >wrong.c
! $clang -c wrong.c 2>err && grep -q '^wrong.c:25:5: error: .undeclared' err || { cat err; exit 1; }
echo "ok instructions"

# --- the project, by the commands of docs/sdk.md
for tool in cmake g++; do
    command -v $tool >/dev/null || { echo "skip: no $tool: apt-get install $tool"; exit 77; }
done
cp -R "$src/docs/examples/calculator" .
awk '/^```/ { on = !on && $NF == "sdk" && NF > 1; next } on' "$src/docs/sdk.md" >project.sh
[ -s project.sh ]
export PATH="$build/bin:$PATH" SDK="$sdk"
sh -eu project.sh >log 2>&1 || { cat log; exit 1; }
tail -n 1 log | grep -x 'rc=0 sum=6 sums\[3\]=124 sums\[4095\]=32767 counted=yes' || { cat log; exit 1; }
echo "ok project"
