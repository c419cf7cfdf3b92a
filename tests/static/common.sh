# Sourced by the static checks: each runs one tool over the sources, prints what it found and exits 1 if that is anything, 77
# without the tool.  What a tool finds differs from version to version, and so does what it finds wrongly: the versions are
# those of Debian 12, whose findings were read.
# shellcheck disable=SC2034 # for the checks
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.." || exit 1
export LC_ALL=C
unset MAKEFLAGS MAKELEVEL MFLAGS

want() { # want PACKAGE TOOL [VERSION]: skips unless TOOL is here, in that version
    version=$("$2" --version 2>/dev/null) || { echo "skip: no $2: apt-get install $1"; exit 77; }
    case "$version " in
    *[!0-9.]"${3:-$version}"[!0-9]* | "${3:-$version} ") ;;
    *) echo "skip: $2 is not version $3, for which its findings were read"; exit 77 ;;
    esac
}

sources() { # the files that people wrote, without data
    find Makefile README.md .ci docs dsp fuse host kernels rpc tests tools -path tests/data -prune -o -path host/data -prune -o \
        -type f -print
}

commands() { # commands BUILD CC FLAGS FOLDER...: how make would compile the C files there, one command a line, without -o
    build=$1 cc=$2 flags=$3
    shift 3
    make -nB V=1 BUILD="$build" CC="$cc" CFLAGS="$flags" mem_trace= tests soak |
        sed -n 's/ -MMD -MP / /; s/\( -c [^ ]*[.]c\) -o .*/\1/p' >"$dir/commands"
    for folder in "$@"; do
        grep -- " -c $folder/" "$dir/commands"
    done
}

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
