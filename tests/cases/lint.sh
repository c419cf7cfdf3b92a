#!/bin/sh
# The sources have the style that tools/lint.sh checks.  Usage: lint.sh BUILD (unused)
exec "$(dirname "$0")/../../tools/lint.sh"
