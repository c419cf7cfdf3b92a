# Sourced: other people's HVX sources, at the commits that were tried.  They come from HEXRIG_SOURCES, a folder with XNNPACK, pthreadpool,
# htp-ops-lib and nnlib in it, or by git into BUILD/sources ($build is set).  Sets `sources`, the folder.
sources=${HEXRIG_SOURCES:-$build/sources}

commit_of() { # commit_of NAME
    case $1 in
    XNNPACK) echo 75db3c093b6d74fe90b8df82670cd8a01102ba38 ;;
    pthreadpool) echo 0e6ca13779b57d397a5ba6bfdcaa8a275bc8ea2e ;;
    htp-ops-lib) echo 426d1da60f23f0e79454cf466b2b2485aafc26a7 ;;
    nnlib) echo df7ad3c1b235ecfeafa6ac9448be462e3f51ec6a ;;
    esac
}

fetch_sources() { # fetch_sources NAME OWNER: into $sources/NAME, once; exit 77 with a reason where they cannot be had
    [ ! -d "$sources/$1" ] || return 0
    if ! git -c init.defaultBranch=main init -q "$sources/$1.new" ||
        ! git -C "$sources/$1.new" fetch -q --depth 1 "https://github.com/$2/$1" "$(commit_of "$1")" 2>/dev/null ||
        ! git -C "$sources/$1.new" checkout -q FETCH_HEAD; then
        rm -rf "$sources/$1.new"
        echo "skip: no $sources/$1, and github.com/$2/$1 cannot be fetched"
        exit 77
    fi
    mv "$sources/$1.new" "$sources/$1"
}
