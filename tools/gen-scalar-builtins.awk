# Makes dsp/include/hexrig/hexrig_scalar_builtins.h from the table of scalar intrinsics.
# Usage: awk -F' [|] ' -f tools/gen-scalar-builtins.awk tests/oracle_scalar/scalar-v69-intrinsics.txt
BEGIN {
    print "/* The compiler's spelling of the scalar intrinsics, which third-party headers use."
    print " * Made by tools/gen-scalar-builtins.awk; do not edit. */"
    print "#ifndef HEXRIG_SCALAR_BUILTINS_H"
    print "#define HEXRIG_SCALAR_BUILTINS_H"
    print ""
}
/^#/ || seen[$8]++ { next }
{ print "#define __builtin_HEXAGON_" $8 " " $1 }
END {
    print ""
    print "#endif"
}
