#!/usr/bin/env python3
"""What paging costs a run, for `make bench`: tokens per second with weights in memory, and out of pages with the oracle on a CPU of its
own, on the CPU that computes, and without one.  Each way is run in turn, N times; ratios are of runs of one turn, so that other load
cancels.

First it asks how much one CPU slows down the other one: two of a machine's may share a core, and then none is the oracle's own.

It fails when `hexrig run` as it is by default (the shipped model, K and V as blocks through the emulated DSP), on one CPU, with an
oracle on another one, takes more than 1.05 times as long as unpaged in more than half of the turns.  Of the other runs nothing is
asked: where computing with a byte takes less time than reading it, reading cannot be hidden.  Nor is it asked where CPUs share a core.

usage: paging.py BUILD [N]
HEXRIG_BENCH_UNDER="chrt -f 1" puts a command in front of each run: on a machine that others use this one keeps them out."""
import json
import os
import statistics
import subprocess
import sys

LIMIT = 1.05
SHARED_CORE = 1.1  # how many times as long work takes beside other work, at most, on CPUs of their own
build, turns = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7
under = os.environ.get("HEXRIG_BENCH_UNDER", "").split()
cpus = sorted(os.sched_getaffinity(0))

runs = {
    "default": ["-p", "In", "-n", "64"],
    "prefill": ["-f", "share/hexrig/books-holdout.txt", "-n", "1", "--kv", "f32"],
    "decode ref": ["-p", "In", "-n", "64", "--kv", "f32", "--linear", "ref"],
    "decode cpu": ["-p", "In", "-n", "64", "--kv", "f32"],
}


def slowdown():
    """What work that no oracle takes part in loses by reads of the model on the other CPU."""
    words = runs["decode cpu"] + ["--model-cpus", str(cpus[-1])]
    model = os.path.join(build, "share/hexrig/hexrig-tiny-q8_0.gguf")
    reads = ["taskset", "-c", str(cpus[0]), "sh", "-c", f"while :; do cat {model} >/dev/null; done"]
    alone = min(seconds(run(words)) for _ in range(5))
    with subprocess.Popen(reads) as reader:
        beside = min(seconds(run(words)) for _ in range(5))
        reader.kill()
    return beside / alone


def ways():
    compute = ["--model-cpus", str(cpus[-1])]
    yield "unpaged", compute
    if len(cpus) > 1:
        yield "own", compute + ["--page-weights", "--oracle-cpus", str(cpus[0])]
    yield "shared", compute + ["--page-weights", "--oracle-cpus", "shared"]
    yield "none", compute + ["--page-weights", "--oracle-cpus", "none"]


def run(words):
    done = subprocess.run(under + [os.path.join(build, "bin/hexrig"), "run", "--json"] + words, capture_output=True, text=True)
    if done.returncode:
        sys.exit("paging: " + done.stderr)
    return json.loads(done.stdout)


def prompt(words):
    """-f FILE of the build becomes the first 2000 characters, which fit the model's context."""
    if words[0] != "-f":
        return words
    with open(os.path.join(build, words[1])) as f:
        return ["-p", f.read(2000)] + words[2:]


def seconds(report):
    return report["host_s"] + report["prefill"]["host_s"]


def measure(words):
    seen = {name: [] for name, _ in ways()}
    for turn in range(turns + 1):
        for name, more in ways():
            report = run(prompt(words) + more)
            if turn:  # the first one warms up
                seen[name].append(report)
    return seen


def line(name, seen, way):
    ratios = [seconds(a) / seconds(b) for a, b in zip(seen[way], seen["unpaged"])]
    best = min(seconds(r) for r in seen[way])
    tokens = len(seen[way][0]["prompt_tokens"]) + len(seen[way][0]["tokens"])
    text = f"paging  {name:11} {way:8} {tokens / best:9.1f} tok/s   time {statistics.median(ratios):.3f} of unpaged"
    if "paging" in seen[way][0]:
        p = sorted((r["paging"] for r in seen[way]), key=lambda p: p["stall_ratio"])[turns // 2]
        text += f"   hits {p['hit_rate']:.3f}   stall ratio {p['stall_ratio']:.1f}"
    print(text, flush=True)
    return statistics.median(ratios)


def main():
    failed = 0
    slower = slowdown() if len(cpus) > 1 else 1
    if slower > SHARED_CORE:
        print(f"paging: one CPU's work takes {slower:.2f} times as long beside reads by the other: they share a core, the limit is not asked")
    for name, words in runs.items():
        seen = measure(words)
        for way in seen:
            ratio = line(name, seen, way)
            if name == "default" and way == "own" and ratio > LIMIT and slower <= SHARED_CORE:
                print(f"paging: {ratio:.3f} of unpaged with an oracle on a CPU of its own; {LIMIT} is the limit")
                failed = 1
    if len(cpus) < 2:
        print("paging: one CPU alone: no oracle of its own")
    return failed


sys.exit(main())
