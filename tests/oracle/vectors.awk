# Makes one loop per intrinsic that works on registers only, for bench_vectors.c.
# Usage: awk -F' [|] ' -f vectors.awk hvx-v69-intrinsics.txt > vectors.inc

function operand(type, name)
{
    if (name ~ /^I[uU]/)
        return "1"
    if (type == "HVX_Vector")
        return "in.v[" vectors++ "][i]"
    if (type == "HVX_VectorPair")
        return "in.w[" pairs++ "][i]"
    if (type == "HVX_VectorPred")
        return "in.q[" preds++ "][i]"
    if (type == "HVX_VectorPred*") {
        carries++
        return "&in.carry[i]"
    }
    return type == "Word64" ? "in.rr[i]" : "in.r[i]"
}

BEGIN { cases = 0 }
/^#/ || NF != 10 || $10 == "ieee-only" || $5 ~ /GATHER|SCATTER|VM_ST/ || $2 == "void" { next }
{
    vectors = pairs = preds = carries = 0
    call = ""
    n = split($3, list, ", ")
    for (k = 1; k <= n; k++) {
        split(list[k], part, " ")
        if (part[2] != "")
            call = call (call == "" ? "" : ", ") operand(part[1], part[2])
    }
    out = $2 == "HVX_VectorPair" ? "w" : $2 == "HVX_VectorPred" ? "q" : $2 == "Word32" ? "r" : "v"
    printf "LOOP(%d, out.%s[i] = %s(%s))\n", cases, out, $1, call
    row[cases] = sprintf("    {\"%s\", loop_%d, %d, %d},", $1, cases, vectors + 2 * pairs + preds + carries, out == "w" || carries ? 2 : 1)
    cases++
}
END {
    print "static const struct loop loops[] = {"
    for (k = 0; k < cases; k++)
        print row[k]
    print "};"
}
