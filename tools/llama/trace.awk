# A trace for Perfetto of what the backend's own profiler logged (GGML_HEXAGON_PROFILE=1): a track for each kind of op, and one of the
# batches, in modelled microseconds.  Usage: awk -f trace.awk LOG
function track(name) {
    if (!(name in tid)) {
        tid[name] = ++tracks
        printf "%s{\"ph\": \"M\", \"pid\": 1, \"tid\": %d, \"name\": \"thread_name\", \"args\": {\"name\": \"%s\"}}", comma, tracks, name
        comma = ",\n"
    }
    return tid[name]
}

BEGIN { printf "[" }

/ profile-op / {
    split($0, field, "|")
    name = field[1]
    sub(/.* profile-op /, "", name)
    split(field[7], word, " ")
    usec = word[2]
    cycles = word[4]
    # the log has the low 32 bits of an op's first cycle; the clock's rate is the last known one
    start = word[6] % 4294967296
    if (usec > 0)
        mhz = cycles / usec
    if (start < last - 2147483648)
        wraps++
    last = start
    at = track(name)
    printf "%s{\"ph\": \"X\", \"cat\": \"model\", \"pid\": 1, \"tid\": %d, \"name\": \"%s\", \"ts\": %.3f, \"dur\": %.3f, ", comma, at, name,
           mhz ? (start + wraps * 4294967296) / mhz : 0, mhz ? cycles / mhz : usec
    printf "\"args\": {\"cycles\": %d, \"tensors\": \"%s\", \"shape\": \"%s\"}}", cycles, field[2], field[3]
}

END { print "]" }
