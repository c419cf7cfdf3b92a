# What a run of llama_generate on a rig cost: its tokens, the report of `hexrig run-with`, and what the backend's own profiler logged.
# Usage: awk -v profile=NAME -f report.awk TOKENS RIG LOG
FNR == 1 { file++ }

file == 1 && /^tokens=/ { tokens += split($0, ids, ",") }

# method calls errors copied shared hvx-ops dispatch marshal queue exec model-ms
file == 2 && $1 == "dspqueue.packets" { packets = $2; copied += $4; shared += $5; packet_ms = $NF; exec_ms = $(NF - 1); hvx_ops = $6 }
file == 2 && $1 == "total" { calls = $2; errors = $3; all_copied = $4; all_shared = $5; all_ms = $NF }

# ggml-hex: HTP0 profile-op NAME|tensors|dims|types|strides|params|usec N cycles N start N mhz N
file == 3 && / profile-op / {
    split($0, field, "|")
    name = field[1]
    sub(/.* profile-op /, "", name)
    n = split(field[7], word, " ")
    usec = word[2]
    if (name == "OPBATCH") {
        batches++
        batch_us += usec
    } else {
        ops++
        count[name]++
        us[name] += usec
        op_us += usec
    }
}

END {
    if (tokens == 0 || packets == 0) {
        print "hexrig llama: no token, or no packet reached the rig"
        exit 1
    }
    invokes = calls - packets
    printf "profile=%s tokens=%d packets=%d invokes=%d errors=%d\n", profile, tokens, packets, invokes, errors
    printf "per token: packets=%.2f invokes=%.2f ops=%.1f copied_bytes=%.0f shared_bytes=%.0f model_us=%.1f\n", packets / tokens,
           invokes / tokens, ops / tokens, all_copied / tokens, all_shared / tokens, all_ms * 1000 / tokens
    printf "per packet: ops=%.1f exec_us=%.1f profiler_us=%.1f hvx_ops=%.0f\n", ops / packets, exec_ms * 1000 / packets,
           batch_us / packets, hvx_ops / packets
    print "op                                count    model us   us/call   share"
    command = "LC_ALL=C sort -k3,3nr -k1,1"
    for (name in us)
        printf "%-30s %8d %11d %9.1f %6.1f%%\n", name, count[name], us[name], us[name] / count[name],
               op_us ? 100 * us[name] / op_us : 0 | command
    close(command)
}
