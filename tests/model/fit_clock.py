#!/usr/bin/env python3
"""Fits the parameters of the cost model to the published rows of `hexrig report timing`: damped Gauss-Newton on logarithms, within
the ranges that the profile gives, outliers counting less.

    tests/model/fit_clock.py [--build build] [--profile s22u-sync] [--out DIR] [--also KEY,...] [--fix KEY,...]
                             [--weight GROUP=W,...] [--rounds 6]

Copies the profile and v69.inc to DIR and changes values there only; the last lines say what to write into dsp/profiles.  What is
fitted are the keys whose note says so, and --also; ranges are those of the notes.  A round asks `report timing
--identify --json` for slopes, which takes two minutes of processor time, then tries up to five steps, which take ten seconds each.

What is minimised: the rows' Huber losses of ln(predicted / measured) / DELTA, each row weighted by its group's --weight and divided
by the rows of the same question, plus, for each parameter, the square of its distance from the middle of its range in the
range's own standard deviations: a range holds nine tenths.  That second part only matters where no row tells a parameter."""
import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys

DELTA = 0.05  # a row off by less counts by its square, beyond it by its distance
NINE_TENTHS = 1.645


def report(args, profile, *words):
    command = [f"{args.build}/bin/hexrig", "report", "timing", "--json", "--profile", profile, *words]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return json.loads(done.stdout)


class Profile:
    """A profile and what it includes, as files of which values are replaced."""

    def __init__(self, name, folder, out):
        os.makedirs(out, exist_ok=True)
        self.path = f"{out}/{name}.conf"
        self.files = [self.path, f"{out}/v69.inc"]
        for file in self.files:
            shutil.copy(f"{folder}/{os.path.basename(file)}", file)

    def get(self, key):
        for file in self.files:
            with open(file, encoding="utf-8") as f:
                match = re.search(rf"^{key}\s*=\s*(\S+)", f.read(), re.M)
            if match:
                return float(match[1])
        raise KeyError(key)

    def set(self, values):
        for file in self.files:
            with open(file, encoding="utf-8") as f:
                lines = f.read().splitlines(keepends=True)
            for i, line in enumerate(lines):
                match = re.match(r"(\w+)(\s*=\s*)(\S+)( *)(.*)", line)
                if match and match[1] in values:
                    key, equals, old, blanks, note = match.groups()
                    text = f"{values[key]:.6g}"
                    blanks = " " * max(1, len(old + blanks) - len(text)) if note else ""
                    lines[i] = key + equals + text + blanks + note + "\n"
            with open(file, "w", encoding="utf-8") as f:
                f.writelines(lines)


def huber(r):
    a = abs(r) / DELTA
    return a * a / 2 if a < 1 else a - 0.5


def weights(rows, by_group):
    same = {}
    for row in rows:
        same[row["ask"]] = same.get(row["ask"], 0) + 1
    return [by_group.get(row["group"], 1.0) / same[row["ask"]] for row in rows]


def residuals(rows):
    return [math.log(row["predicted"] / row["measured"]) for row in rows]


def prior(p, value):
    sd = math.log(p["high"] / p["low"]) / 2 / NINE_TENTHS
    return math.log(value / math.sqrt(p["low"] * p["high"])) / sd, sd


def cost(rows, weight, params, values):
    fit = sum(w * huber(r) for w, r in zip(weight, residuals(rows)))
    return fit + sum(prior(p, values[p["name"]])[0] ** 2 for p in params) / 2


def solve(a, b):
    """Gauss elimination with pivots; a is symmetric and positive."""
    n = len(b)
    m = [row[:] + [b[i]] for i, row in enumerate(a)]
    for i in range(n):
        best = max(range(i, n), key=lambda k: abs(m[k][i]))
        m[i], m[best] = m[best], m[i]
        for k in range(i + 1, n):
            f = m[k][i] / m[i][i]
            for j in range(i, n + 1):
                m[k][j] -= f * m[i][j]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (m[i][n] - sum(m[i][j] * x[j] for j in range(i + 1, n))) / m[i][i]
    return x


def step(rows, weight, params, values, damping):
    """One damped step of ln(value), clipped to the ranges."""
    n = len(params)
    r = residuals(rows)
    a = [[0.0] * n for _ in range(n)]
    b = [0.0] * n
    for i in range(len(rows)):
        w = weight[i] * min(1, DELTA / max(abs(r[i]), 1e-12)) / DELTA ** 2
        j = [p["slopes"][i] for p in params]
        for k in range(n):
            b[k] -= w * j[k] * r[i]
            for l in range(n):
                a[k][l] += w * j[k] * j[l]
    for k, p in enumerate(params):
        distance, sd = prior(p, values[p["name"]])
        a[k][k] += 1 / sd ** 2
        b[k] -= distance / sd
        a[k][k] *= 1 + damping
    moved = dict(values)
    for p, by in zip(params, solve(a, b)):
        by = min(max(by, -0.5), 0.5)
        value = min(max(values[p["name"]] * math.exp(by), p["low"]), p["high"])
        moved[p["name"]] = round(value) if p["whole"] else value
    return moved


def show(label, table, loss):
    groups = "  ".join(f"{g['name']} {100 * g['median_error']:.1f}/{100 * g['worst_error']:.0f}{'' if g['ok'] else '!'}"
                       for g in table["groups"] if g["n_rows"])
    print(f"{label}: loss {loss:.2f}  median/worst %: {groups}", flush=True)


def pairs(text):
    return {k: float(v) for k, v in (item.split("=") for item in text.split(",") if item)}


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    ap.add_argument("--build", default="build")
    ap.add_argument("--profile", default="s22u-sync")
    ap.add_argument("--out", default="build/fit")
    ap.add_argument("--also", default="", help="keys to fit though their notes do not say so; they need ranges")
    ap.add_argument("--fix", default="", help="keys to leave as they are")
    ap.add_argument("--weight", default="", help="GROUP=W,...: how much a group's rows count (1)")
    ap.add_argument("--rounds", type=int, default=6)
    args = ap.parse_args()
    also, fixed = set(filter(None, args.also.split(","))), set(filter(None, args.fix.split(",")))
    profile = Profile(args.profile, "dsp/profiles", args.out)
    damping, start = 0.01, None

    for number in range(args.rounds):
        table = report(args, profile.path, "--identify")
        params = [p for p in table["parameters"]
                  if p["varies"] and (p["origin"] == "fitted" or p["name"] in also) and p["name"] not in fixed]
        unknown = also - {p["name"] for p in params}
        if unknown:
            sys.exit(f"--also: {', '.join(sorted(unknown))}: no such key, or it has no range")
        values = {p["name"]: p["value"] for p in params}
        weight = weights(table["rows"], pairs(args.weight))
        loss = cost(table["rows"], weight, params, values)
        start = start or dict(values)
        show(f"round {number}", table, loss)
        print(f"  left out: median {100 * table['without_median_error']:.1f} %; scatter {100 * table['scatter']:.1f} %", flush=True)
        for _ in range(5):
            moved = step(table["rows"], weight, params, values, damping)
            profile.set(moved)
            tried = report(args, profile.path)
            new = cost(tried["rows"], weight, params, moved)
            show(f"  damping {damping:g}", tried, new)
            if new < loss:
                damping /= 4
                break
            damping = max(damping * 8, 0.01)
        else:
            profile.set(values)
            break
        if loss - new < 1e-3 * loss:
            break

    table = report(args, profile.path)
    print(f"\n{'key':24} {'was':>12} {'is':>12}")
    for key in sorted(start):
        print(f"{key:24} {start[key]:12.6g} {profile.get(key):12.6g}")
    print(f"\nfiles: {' '.join(profile.files)}")
    return 0 if table["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
