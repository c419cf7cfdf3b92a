# Makes dsp/include/hexrig/hexrig_hvx_names.h or hexrig_scalar_names.h from a table of intrinsics.  Usage:
#   awk -F' [|] ' -f tools/gen-intrinsic-names.awk tests/oracle/hvx-v69-intrinsics.txt > dsp/include/hexrig/hexrig_hvx_names.h
#   awk -F' [|] ' -f tools/gen-intrinsic-names.awk tests/oracle_scalar/scalar-v69-intrinsics.txt > dsp/include/hexrig/hexrig_scalar_names.h
/^#/ { next }
# what has a macro of its own, because it takes integers and pointers
/^Q6_(dcfetch|dcclean|dccleaninv|dcinv|dczero|l2fetch)a?_A/ { next }
!began++ {
    guard = "HEXRIG_" ($8 ~ /^V6_/ ? "HVX" : "SCALAR") "_NAMES_H"
    print "/* The intrinsics as macros, which they are in the SDK, for code that asks by #if defined(Q6_...)."
    print " * Made by tools/gen-intrinsic-names.awk; do not edit. */"
    print "#ifndef " guard
    print "#define " guard
    print ""
}
$10 == "ieee-only" { ieee[++n] = $1; next }
{ print "#define " $1 " " $1 }
END {
    print ""
    if (n) {
        print "#ifdef HEXRIG_HVX_IEEE"
        for (i = 1; i <= n; i++)
            print "#define " ieee[i] " " ieee[i]
        print "#endif"
        print ""
    }
    print "#endif"
}
