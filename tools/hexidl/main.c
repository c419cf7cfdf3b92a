/* hexidl: the IDL compiler as a program of its own, which needs nothing else of this project (docs/idl.md). */
#include "idl.h"

int main(int argc, char **argv)
{
    return hx_idl_main(argc, argv);
}
