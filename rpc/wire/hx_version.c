/* The version, as tools/VERSION has it; the Makefile defines HX_VERSION for this file alone. */
#include "hx_version.h"

const char hx_version[] = HX_VERSION;
