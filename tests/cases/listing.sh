#!/bin/sh
# The packet tables in kernels are those that clang gives for the kernels beside them; skips without clang-19 for
# Hexagon.  Usage: listing.sh BUILD
exec "$(dirname "$0")/../../tools/listing/listings.sh" check "$1"
