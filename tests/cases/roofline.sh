#!/bin/sh
# hexrig profile: energies are its counts times the profile's constants, memory is there.  hexrig roofline: ceilings are the profile's, every point lies below all of them, bytes are found where a kernel or method puts
# them, and text, JSON and picture tell of the same points.  Usage: roofline.sh BUILD
set -eu
build=$(cd "$1" && pwd)
tree=$(cd "$(dirname "$0")/../.." && pwd)
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
hexrig=$build/bin/hexrig

"$hexrig" roofline --profile s22u-sync --pos 4 --svg r.svg --json >r.json
"$hexrig" roofline --profile s22u-sync --pos 4 --methods >r.txt
"$hexrig" run --profile s22u-sync -p x -n 1 --kv f32 --json >run.json
[ -e "$build/share/hexrig/profiles/v69.inc" ]
python3 - "$build" <<'END'
import json, os, re, sys
import xml.etree.ElementTree as tree

keys = {}
for name in "v69.inc", "s22u-sync.conf":
    for line in open(f"{sys.argv[1]}/share/hexrig/profiles/{name}"):
        m = re.match(r"(\w+)\s*=\s*([\d.]+)", line)
        if m:
            keys[m[1]] = float(m[2])
r = json.load(open("r.json"))
c = r["ceilings"]

def near(a, b):
    assert abs(a - b) <= 1e-9 * abs(b), (a, b)

near(c["ddr_bytes_per_pcycle"], keys["dma_bytes_per_pcycle"])
near(c["vtcm_bytes_per_pcycle"], 128 * keys["hvx_contexts"] / keys["hvx_pcycles"])
near(c["hvx_ops_per_pcycle"], 4 * keys["hvx_contexts"] / keys["hvx_pcycles"])
near(c["call_pcycles"], keys["dispatch_us"] * keys["clock_mhz"])
points = {p["name"]: p for p in r["kernels"] + r["methods"]}
for p in points.values():
    assert p["exec_pcycles"] > 0 and p["all_pcycles"] > p["exec_pcycles"], p
    assert 0 <= p["exec_percent"] <= 100 and 0 < p["percent"] <= 100, p
    assert p["calls"] + p["packets"] >= 1, p
assert len(points) == len(r["kernels"]) + len(r["methods"]) >= 30
size = os.path.getsize(f"{sys.argv[1]}/share/hexrig/hexrig-tiny-q8_0.gguf")
if points["axpby"]["ddr_bytes"]:  # a build that traces loads and stores
    assert points["axpby"]["ddr_bytes"] >= 4 * 65536, points["axpby"]  # x in, y out, two bytes each
    assert points["axpby vtcm"]["vtcm_bytes"] >= 4 * 65536, points["axpby vtcm"]
    assert points["axpby"]["vtcm_bytes"] == 0, points["axpby"]
    assert points["linear ddr"]["ddr_bytes"] > 0.8 * size, points["linear ddr"]
assert points["matmul 1 x2 dma"]["dma_bytes"] >= 1152 * 6912, points["matmul 1 x2 dma"]
assert points["linear dma"]["dma_bytes"] > 0.8 * size, points["linear dma"]
bound = json.load(open("run.json"))["roofline_tok_s"] / (keys["dma_bytes_per_pcycle"] * keys["clock_mhz"] * 1e6)
assert 0.9 * size < 1 / bound < size, (1 / bound, size)  # the file has norms and a vocabulary beside the matrices
text = open("r.txt").read()
for p in r["methods"]:
    assert re.search(rf"^{p['name']} +{p['exec_roof']} ", text, re.M), p["name"]
svg = tree.parse("r.svg").getroot()
shown = [p for p in points.values() if p["ops_per_byte"] > 0]
circles = svg.findall(".//{http://www.w3.org/2000/svg}circle")
assert len(circles) == len(shown) > 0, (len(circles), len(shown))
for name in "attn blocks", "linear resident", "kv banded", "layer":
    assert name in points, name
assert points["linear resident"]["dma_bytes"] < 0.1 * size, points["linear resident"]
print("ok", len(points), "points")
END

# a model that some methods do not take: they are named, the others stand there
"$hexrig" roofline --pos 2 --methods -m "$tree/tests/data/fuzz/gguf/tiny-qwen3.gguf" >q.txt 2>q.err
grep -q '^linear ddr ' q.txt && grep -q '^kv ntt ' q.txt
[ "$(grep -c '^hexrig roofline: without ' q.err)" = 4 ]
grep -q 'without kv spinor: .*no calibration for this model' q.err
grep -q 'without layer: .* heads whose width is no multiple of 64$' q.err

"$hexrig" profile --profile s22u-sync --kv f32 --offload linear --placement dma --prefill 8 --decode 2 --json >p.json
python3 - <<'END'
import json

p = json.load(open("p.json"))
c = {k: v["value"] for k, v in p["constants"].items()}
assert all(v["source"].startswith("assumed") for v in p["constants"].values()), p["constants"]
for name, tokens in ("prefill", 8), ("decode", 2):
    s = p[name]
    e = s["energy"]
    want = {"ddr_uj": (s["ddr_bytes"] + s["dma_bytes"]) * c["ddr_pj_per_byte"] / 1e6, "l2_uj": s["l2_bytes"] * c["l2_pj_per_byte"] / 1e6,
            "vtcm_uj": s["vtcm_bytes"] * c["vtcm_pj_per_byte"] / 1e6, "hvx_uj": s["hvx_ops"] * c["hvx_pj_per_op"] / 1e6,
            "idle_uj": c["power_idle_w"] * s["model_wall_us"]}
    want["total_uj"] = sum(want.values())
    want["uj_per_token"] = want["total_uj"] / tokens
    want["mean_w"] = want["total_uj"] / s["model_wall_us"]
    for k, v in want.items():
        assert abs(e[k] - v) <= 1e-6 * v, (name, k, e[k], v)
    assert s["tokens"] == tokens and s["dma_bytes"] > 0 and s["hvx_ops"] > 0, s
m = p["memory"]
assert m["peak_rss_bytes"] >= m["rss_bytes"] > 1e6 and m["vtcm_bytes"] > 0 and m["dsp_pds"] == 1, m
assert m["dsp_ddr_bytes"] == m["dsp_buffer_bytes"] + m["dsp_heap_bytes"] > 3e6, m  # the weights
print("ok profile")
END

"$hexrig" roofline --kernels --methods 2>err && exit 1
grep -q 'leave nothing' err
echo "ok refusals"
