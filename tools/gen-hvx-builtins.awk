# Makes dsp/include/hexrig/hexrig_hvx_builtins.h from the table of intrinsics.  Usage:
#   awk -F' [|] ' -f tools/gen-hvx-builtins.awk tests/oracle/hvx-v69-intrinsics.txt > dsp/include/hexrig/hexrig_hvx_builtins.h
BEGIN {
    print "/* The __builtin_HEXAGON_V6_*_128B names that third-party headers reach for, as the Q6_"
    print " * intrinsics that they are.  Made by tools/gen-hvx-builtins.awk; do not edit. */"
    print "#ifndef HEXRIG_HVX_BUILTINS_H"
    print "#define HEXRIG_HVX_BUILTINS_H"
    print ""
}
/^#/ { next }
{
    # the table names the outermost builtin of the SDK's nested macro; this one makes a predicate
    b = $1 == "Q6_Q_vand_VR" ? "V6_vandvrt" : $8
    if (b in seen) {
        print "gen-hvx-builtins.awk: " b " twice: " seen[b] " " $1 > "/dev/stderr"
        exit 1
    }
    seen[b] = $1
    printf "#define __builtin_HEXAGON_%s_128B %s\n", b, $1
}
END {
    print ""
    print "#endif"
}
