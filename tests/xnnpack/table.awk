# The table of twins.c: from families.txt and the names of the HVX functions, one a line, in that order.  Usage: awk -f table.awk FILE NAMES
function number(word, which,    n, part)
{
    n = split(word, part, /[^0-9]+/)
    for (; part[1] == "" && n > 0; n--)
        for (i = 1; i < n; i++)
            part[i] = part[i + 1]
    return n >= which ? part[which] : 0
}
/^#/ { next }
NR == FNR { runner[$1] = $2; limit[$1] = $3; low[$1] = $4; high[$1] = $5; twin[$1] = $6; next }
{
    family = $1
    sub(/_ukernel.*/, "", family)
    tile = $1
    sub(/.*_ukernel_*/, "", tile)
    sub(/__.*/, "", tile)
    if (!(family in runner)) {
        print "no twin for " $1 >"/dev/stderr"
        exit 1
    }
    other = twin[family]
    sub(/@/, number(tile, 1), other)
    print "extern void xnn_" $1 "(void);"
    if (other != "-" && !(other in told))
        print "extern void xnn_" other "(void);"
    told[other] = 1
    row[++rows] = sprintf("    { \"%s\", xnn_%s, %s, run_%s, %d, %d, %s, %s, %s },", $1, $1, other == "-" ? "0" : "xnn_" other,
                          runner[family], number(tile, 1), number(tile, 2), limit[family], low[family], high[family])
}
END {
    print "static const struct twins table[] = {"
    for (i = 1; i <= rows; i++)
        print row[i]
    print "};"
}
