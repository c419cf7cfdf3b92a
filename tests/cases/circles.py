# Finds source files that need each other, directly or through others.  For circles.sh:  circles.py SOURCE BUILD ALLOWED
#
# File A needs file B when A's object wants a global symbol that B's object alone defines, within one part (a folder below);
# what several objects of a part define, entry points of the skels say, belongs to none of them.  A circle is a strongly
# connected component of that graph.  Each line of ALLOWED is "FILE FILE...: why these may need each other".
import os
import re
import subprocess
import sys

PARTS = ("rpc", "dsp", "fuse", "host", "kernels",
         "tools/hexrig", "tools/hexidl", "tools/listing", "tools/preload", "tools/theorems")


def objects(source, build, part):
    """Objects of the part whose source is still there: a build folder keeps those of files that have moved."""
    for folder, _, names in os.walk(os.path.join(build, "obj", part)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            file = os.path.relpath(path, os.path.join(build, "obj"))[:-2] + ".c"
            if name.endswith(".o") and os.path.exists(os.path.join(source, file)):
                yield file, path


def symbols(files):
    """{file: (what it defines, what it wants)}"""
    file_of = {path: file for file, path in files}
    table = {file: (set(), set()) for file in file_of.values()}
    if not table:
        return table
    listing = subprocess.run([os.environ.get("NM", "nm"), "-A", "-g", "-P"] + sorted(file_of), check=True,
                             stdout=subprocess.PIPE, universal_newlines=True).stdout
    for line in listing.splitlines():
        path, name, kind = line.split()[:3]
        table[file_of[path[:-1]]][kind in "Uvw"].add(name)
    return table


def arrows(files):
    """{A: {B: symbols}}: what A needs of B."""
    table = symbols(files)
    owners = {}
    for file, (defines, _) in table.items():
        for name in defines:
            owners.setdefault(name, []).append(file)
    graph = {file: {} for file in table}
    for file, (defines, wants) in table.items():
        for name in wants - defines:
            if len(owners.get(name, [])) == 1:
                graph[file].setdefault(owners[name][0], set()).add(name)
    return graph


def circles(graph):
    """Components of more than one file: those that a file reaches and is reached from."""
    def reach(start):
        seen, todo = set(), [start]
        while todo:
            for file in graph[todo.pop()]:
                if file not in seen:
                    seen.add(file)
                    todo.append(file)
        return seen

    reached = {file: reach(file) for file in graph}
    left = sorted(graph)
    while left:
        circle = [f for f in left if f == left[0] or (f in reached[left[0]] and left[0] in reached[f])]
        left = [f for f in left if f not in circle]
        if len(circle) > 1:
            yield circle


def read_allowed(path):
    with open(path) as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                files, why = re.fullmatch(r"([^:]+):\s*(\S.*)\n", line).groups()
                yield set(files.split()), why


def show(circle, graph):
    print("circle of %d files:" % len(circle))
    for file in circle:
        for other in sorted(set(graph[file]) & set(circle)):
            print("  %s -> %s: %s" % (file, other, " ".join(sorted(graph[file][other]))))


def main(source, build, allowed_path):
    allowed = list(read_allowed(allowed_path))
    n_bad, used = 0, []
    built = set()
    for part in PARTS:
        graph = arrows(objects(source, build, part))
        built |= set(graph)
        for circle in circles(graph):
            entry = next((files for files, _ in allowed if set(circle) <= files), None)
            if entry:
                used.append(entry)
            else:
                n_bad += 1
                show(circle, graph)
    for files, why in allowed:
        if files <= built and files not in used:
            n_bad += 1
            print("no circle any more, to be taken off the list: %s: %s" % (" ".join(sorted(files)), why))
    if not built:
        sys.exit("circles: no objects in %s/obj" % build)
    print("%d files, %d circles allowed, %d not" % (len(built), len(used), n_bad))
    return n_bad != 0


sys.exit(main(*sys.argv[1:]))
