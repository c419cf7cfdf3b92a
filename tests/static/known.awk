# Findings of a compiler or clang-tidy without those of a list: awk -f known.awk LIST OUTPUT, exit 1 when one is left.
# A line of LIST: FILE CHECK WHY-IT-IS-WRONG.  The check is what a finding has at its end, [CHECK].
FILENAME == ARGV[1] {
    if ($0 ~ /^[^#]/) known[$1, $2] = 1
    next
}
match($0, /^[^ :]+:[0-9]+:[0-9]+: (warning|error): /) {
    file = $0
    sub(/:.*/, "", file)
    if (index(file, root) == 1) file = substr(file, length(root) + 1)
    check = $NF
    gsub(/[][]/, "", check)
    if ((file, check) in known || said[$0]++) next
    print file substr($0, index($0, ":"))
    bad = 1
}
END { exit bad }
