# What `make -nB V=1` prints -> compile_commands.json: awk -v dir=FOLDER -f compile-commands.awk
BEGIN { print "[" }
NF > 4 && $(NF - 3) == "-c" && $(NF - 1) == "-o" && $(NF - 2) ~ /[.]c$/ {
    command = $0
    gsub(/'"|"'/, "\\\"", command) # '"text"' is \"text\" for every reader, also for those that know no ' (cppcheck 2.10)
    gsub(/[\\"]/, "\\\\&", command)
    printf "%s{\"directory\": \"%s\", \"file\": \"%s\", \"output\": \"%s\",\n \"command\": \"%s\"}",
           comma, dir, $(NF - 2), $NF, command
    comma = ",\n"
}
END { print "\n]" }
