# What pages of docs/ show, for cases that hold them to it; to be sourced by a shell with `set -eu`.

# page_blocks PAGE DIR: the fenced block behind a line **`FILE`** becomes DIR/N, N from 1; DIR/list has a line "FILE file" or, of a
# ```diff block, "FILE line" for each.
page_blocks() {
    awk -v dir="$2" '
    /^\*\*`.*`\*\*$/ { name = substr($0, 4, length($0) - 6); next }
    /^```/ && out { close(out); out = name = ""; next }
    /^```/ && name {
        out = dir "/" ++n
        print name (/^```diff/ ? " line" : " file") >(dir "/list")
        next
    }
    out { print >out }' "$1"
}

# page_shown BUILD PAGE [PATTERN]: runs the lines "$ hexrig ..." and "$ python3 ..." of PAGE's fenced blocks in the current folder, which gets a link
# `build` to BUILD, and compares what they print with what the page shows below.  Without commands that match PATTERN, an awk
# regular expression: what takes long, or differs by machine.
page_shown() {
    page_dir=$(mktemp -d)
    [ -e build ] || ln -s "$1" build
    awk -v dir="$page_dir" -v without="${3:-^$}" '
    /^```/ { out = ""; shown = !shown; next }
    shown && /^\$ / {
        out = /^\$ (hexrig|python3) / && $0 !~ without ? sprintf("%s/%03d", dir, ++n) : ""
        if (out) {
            print substr($0, 3) >(out ".sh")
            printf "" >(out ".want")
        }
        next
    }
    out { print >(out ".want") }' "$2"
    page_rc=0
    for page_cmd in "$page_dir"/*.sh; do
        PATH="$1/bin:$PATH" sh "$page_cmd" >"$page_dir/have" 2>&1 || :
        if cmp -s "$page_dir/have" "${page_cmd%.sh}.want"; then
            echo "as ${2##*/} shows: $(cat "$page_cmd")"
        else
            echo "${2##*/} shows another output: $(cat "$page_cmd")"
            diff "${page_cmd%.sh}.want" "$page_dir/have" || page_rc=1
        fi
    done
    rm -rf "$page_dir"
    return $page_rc
}
