# Makes the test cases of both sides from the tables: one function per intrinsic and immediate value.
# Usage: awk -F' [|] ' -f gen.awk hvx-v69-intrinsics.txt scalar-intrinsics.txt > cases.inc.  See oracle.h.
# Float names are refused: qemu runs some of them as other instructions.

function operand(type, name)
{
    if (type == "HVX_Vector")
        return name == "Vu" ? "in->u" : name == "Vv" ? "in->v" : "in->x"
    if (type == "HVX_VectorPair")
        return name == "Vuu" ? "in->uu" : name == "Vvv" ? "in->vv" : "in->xx"
    if (type == "HVX_VectorPred") {
        preds++
        return preds == 1 ? "ORACLE_Q(in->q)" : "ORACLE_Q(in->p)"
    }
    if (type == "HVX_VectorPred*")
        return "&carry"
    if (type == "HVX_Vector*")
        return "(HVX_Vector *)in->target"
    if (type == "Word64")
        return ++doubles == 1 ? "in->rr" : "(int64_t)in->p_[1]"
    if (type == "Byte")
        return "(int)(in->q_[1] & 1)"
    if (scalar && type == "Word32") {
        words++
        return words == 1 ? "in->r" : words == 2 ? "(int32_t)in->q_[0]" : "(int32_t)in->p_[0]"
    }
    if (type == "Word32" && name == "Mu")
        return "in->length"
    if (type == "Word32" && (name == "Rt" || name == "Rs"))
        return memory ? "in->base" : "in->r"
    return "?"
}

function emit(name, ret, list, n,    i, call, parts, imm)
{
    preds = words = doubles = 0
    call = ""
    for (i = 1; i <= n; i++) {
        split(list[i], parts, " ")
        imm = parts[2] ~ /^Iu/ ? value : parts[2] ~ /^IU/ ? value * 11 % 32 : operand(parts[1], parts[2])
        if (imm == "?") {
            print "gen.awk: " name ": cannot make operand " list[i] > "/dev/stderr"
            exit 1
        }
        call = call (i > 1 ? ", " : "") imm
    }
    call = name "(" call ")"
    printf "static void case_%d(const struct input *in, struct output *out)\n{\n    (void)in;\n", cases
    if (index(call, "&carry"))
        printf "    HVX_VectorPred carry = ORACLE_Q(in->q);\n\n"
    if (scalar)
        printf "    out->word[0] = (%s)%s;\n", ret ~ /64/ ? "uint64_t" : "uint32_t", call
    else if (ret == "HVX_VectorPair")
        printf "    out->w = %s;\n", call
    else if (ret == "HVX_Vector")
        printf "    out->v[0] = %s;\n", call
    else if (ret == "HVX_VectorPred")
        printf "    out->v[0] = ORACLE_BYTES(%s);\n", call
    else if (ret == "Word32")
        printf "    out->v[0] = Q6_V_vsplat_R(%s);\n", call
    else
        printf "    (void)out;\n    %s;\n", call
    if (index(call, "&carry"))
        printf "    out->v[1] = ORACLE_BYTES(carry);\n"
    printf "}\n"
    row[cases] = sprintf("    {\"%s\", %d, %s, case_%d},", name, memory, scalar ? "-1" : "HX_SLOT_" slot, cases)
    cases++
}

BEGIN { cases = 0 }
/^#/ || (NF == 10 && $10 != "int") { next }
{
    n = split($3, list, ", ")
    scalar = NF == 3
    memory = $5 ~ /GATHER|SCATTER|VM_ST/ ? ($1 ~ /Vh/ ? 16 : 32) : 0
    slot = $5 == "MAPPING" ? "VA_DV" : $5 == "LD" ? "LD" : $5 == "CVI_VM_ST" ? "ST" : substr($5, 5)
    limit = 1
    for (i = 1; i <= n; i++)
        if (match(list[i], /Iu[0-9]$/))
            limit = 2 ^ substr(list[i], RSTART + 2)
    for (value = 0; value < limit; value++)
        emit($1, $2, list, n)
    if (scalar)
        scalars++
    else
        names++
}
END {
    printf "static const struct oracle_case oracle_cases[] = {\n"
    for (i = 0; i < cases; i++)
        print row[i]
    printf "};\n#define ORACLE_CASES %d\n#define ORACLE_NAMES %d\n#define ORACLE_SCALARS %d\n", cases, names, scalars
}
