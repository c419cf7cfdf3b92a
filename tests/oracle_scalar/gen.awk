# Makes the cases of both sides of the scalar oracle from the table: one function per intrinsic, which calls it with every
# sampled value of its immediates.  Usage: awk -F' [|] ' -f gen.awk scalar-v69-intrinsics.txt > scalar_cases.inc
# Intrinsics on memory are written by hand in memory_cases.h; user DMA (Y6_dm*) in tests/dsp/test_dma.c.

# Values of an immediate: all when that is few, else the edges and some between.
function values(type, many, v,    bits, n, i, low, high, scale) {
    split("", v)
    match(type, /[0-9]+/)
    bits = substr(type, RSTART, RLENGTH) + 0
    scale = type ~ /_/ ? 2 ^ substr(type, index(type, "_") + 1) : 1
    high = type ~ /^Iu|^IU/ ? 2 ^ bits - 1 : 2 ^ (bits - 1) - 1
    low = type ~ /^Iu|^IU/ ? 0 : -2 ^ (bits - 1)
    if (type ~ /^Im/) {
        high = 255
        low = -255
    }
    if (!many && high - low < 64) {
        for (i = low; i <= high; i++)
            v[++n] = i * scale
        return n
    }
    v[++n] = low; v[++n] = low + 1; v[++n] = high - 1; v[++n] = high
    v[++n] = int(high / 2); v[++n] = int(high / 2) + 1; v[++n] = low + 7; v[++n] = high - 9
    if (!many && low < 0) {
        v[++n] = -1; v[++n] = 0; v[++n] = 1; v[++n] = int(low / 2)
    }
    for (i = 1; i <= n; i++)
        v[i] *= scale
    return n
}

function operand(type, i) {
    return type == "Word32" ? "in->r[" i "]" : type == "Word64" ? "in->p[" i "]" : type == "Byte" ? "in->q[" i "]" : \
        type == "Float32" ? "in->f[" i "]" : "in->g[" i "]"
}

function call(a, b,    s, i, imm) {
    s = ""
    imm = 0
    for (i = 1; i <= n; i++) {
        split(list[i], part, " ")
        s = s (i > 1 ? ", " : "") (part[2] ~ /^I/ ? (imm++ ? b : a) : operand(part[1], i - 1))
    }
    printf "    emit_%s(%s(%s));\n", kind, $1, s
}

BEGIN {
    cases = 0
}
/^#/ { next }
/Y6_dm/ { missing = missing " " $1; next }
/void\*/ || $3 ~ /Address/ { next }
{
    n = split($3, list, ", ")
    kind = $2 ~ /64/ ? ($2 == "Float64" ? "g" : "p") : $2 == "Float32" ? "f" : "r"
    imms = 0
    for (i = 1; i <= n; i++) {
        split(list[i], part, " ")
        if (part[2] ~ /^I/)
            type[++imms] = part[2]
    }
    printf "static void case_%d(const struct input *in)\n{\n", cases
    if (imms == 2) {
        na = values(type[1], 1, va)
        nb = values(type[2], 1, vb)
        for (i = 1; i <= na; i++)
            for (j = 1; j <= nb; j++)
                call(va[i], vb[j])
    } else if (imms == 1) {
        na = values(type[1], 0, va)
        for (i = 1; i <= na; i++)
            call(va[i])
    } else {
        call()
    }
    if (n == imms)
        print "    (void)in;"
    print "}"
    row[cases] = sprintf("    {\"%s\", %d, case_%d},", $1, imms == 2 ? 256 : imms ? 1024 : 4096, cases)
    cases++
}
END {
    print "#define GENERATED_CASES \\"
    for (i = 0; i < cases; i++)
        print row[i] " \\"
    print "\n#define NOT_COMPARED \"" missing "\""
}
