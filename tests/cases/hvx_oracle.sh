#!/bin/sh
# The integer HVX intrinsics against qemu-hexagon; skips when its tools cannot be fetched.  Usage: hvx_oracle.sh BUILD
exec "$(dirname "$0")/../oracle/run.sh" "$1"
