#!/usr/bin/env python3
"""What matrices of low rank are worth on the half-gigabyte models of `make bench-peer`, for `make bench`: decode speed with factors over
speed with the whole matrices, beside what the bytes of a token say, in the model's own format (f16, q8_0).  Both are run by turns, N times;
the ratio is the median over turns, so that other load cancels.

It fails when a gain is below .8 of what the bytes say, when making factors takes more than 90 s of 2 cores (as CPU time: 180 s), when
memory peaks above twice the model, or when an interrupt leaves anything in the folder of files.

usage: lowrank.py BUILD [N [KIND...]]
HEXRIG_BENCH_UNDER="chrt -f 1" puts a command in front of each run: on a machine that others use this one keeps them out."""
import json
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

GAIN, SECONDS, CORES, MEMORY = 0.8, 90, 2, 2
AT_WORK = 5  # CPU seconds in which the model is read and factors are begun; all of them take 40 or more
build, turns = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
src = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
under = os.environ.get("HEXRIG_BENCH_UNDER", "").split()
bad = []


def model(kind):
    path = os.path.join(build, "peer", kind + ".gguf")
    if not os.path.exists(path):
        subprocess.run([os.path.join(build, "peer/make_model"), kind, os.path.join(src, "host/data/hexrig-tiny-q8_0.gguf"), path], check=True)
    return path


def words(path, folder, kind, low):
    more = ["--axex-full-compress", "--axex-compress-rank", "384", "--wproj-format", kind, "--wproj-cache", folder] if low else []
    return [os.path.join(build, "bin/hexrig"), "bench", "engine", "-m", path, "--threads", "2", "--prefill", "4", "--decode", "24",
            "--runs", "2", "--json"] + more


def run(*args):
    done = subprocess.run(under + words(*args), capture_output=True, text=True)
    if done.returncode:
        sys.exit("lowrank: " + done.stderr)
    return json.loads(done.stdout)


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def gate(what, value, limit, holds):
    print(f"lowrank: {what} {value:.2f}, {limit:.2f} is asked: {'PASS' if holds else 'FAIL'}", flush=True)
    if not holds:
        bad.append(what)


def cpu_seconds_of(pid):
    with open(f"/proc/{pid}/stat") as f:
        user, system = f.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def interrupt(path, folder, kind):
    """In the middle of it, by what the process has taken: nothing is left."""
    with subprocess.Popen(words(path, folder, kind, True), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
        while p.poll() is None and cpu_seconds_of(p.pid) < AT_WORK:
            time.sleep(0.05)
        was_at_work = p.poll() is None
        p.send_signal(signal.SIGINT)
        p.wait()
    left = os.listdir(folder) if os.path.isdir(folder) else []
    gate(f"{kind}: files left by an interrupt", len(left), 0, was_at_work and not left)


def measure(kind):
    path = model(kind)
    size = os.path.getsize(path)
    folder = tempfile.mkdtemp()
    try:
        interrupt(path, folder, kind)
        began = cpu_seconds()
        made = run(path, folder, kind, True)
        gate(f"{kind}: CPU seconds to make factors", cpu_seconds() - began, SECONDS * CORES, cpu_seconds() - began <= SECONDS * CORES)
        gate(f"{kind}: peak memory over the model", made["peak_rss_bytes"] / size, MEMORY, made["peak_rss_bytes"] <= MEMORY * size)
        bytes_now = size - made["lowrank"]["raw_bytes_per_token"] + made["lowrank"]["bytes_per_token"]
        gains = []
        for _ in range(turns):
            plain = run(path, folder, kind, False)["decode"]["tok_per_s"]
            low = run(path, folder, kind, True)
            if low["lowrank"]["cache"] != "hit":
                sys.exit("lowrank: the factors were made again")
            gains.append(low["decode"]["tok_per_s"] / plain)
        say = size / bytes_now
        gain = statistics.median(gains)
        print(f"lowrank: {kind}: bytes {size} and {bytes_now}: {say:.2f}; decode {gain:.2f} times as fast ({min(gains):.2f} to "
              f"{max(gains):.2f})", flush=True)
        gate(f"{kind}: of what the bytes say", gain / say, GAIN, gain >= GAIN * say)
    finally:
        shutil.rmtree(folder)


for kind in sys.argv[3:] or ("f16", "q8_0"):
    measure(kind)
sys.exit(1 if bad else 0)
