"""Files that pages and comments name, see docs_links.sh.  Usage: docs_links.py TREE"""
import os, re, sys

TOPS = ["docs", "dsp", "fuse", "host", "kernels", "rpc", "tests", "tools"]
SOURCES = (".c", ".h", ".sh", ".inc", ".idl", ".in", ".py", ".awk", ".map", ".pml", "Makefile")
ENDS = "c|h|sh|inc|idl|py|awk|map|md|pml"
PLACEHOLDER = re.compile(r"\*|(?<![A-Z])(?:NAME|DIR|FOLDER)")
failed = 0


def fail(where, what):
    global failed
    print(f"{where}: {what}")
    failed = 1


def walk():
    yield from ("Makefile", "README.md")
    for top in TOPS:
        for folder, folders, names in os.walk(top):
            folders[:] = [d for d in folders if d != "__pycache__"]
            yield from (os.path.join(folder, n) for n in names)


def exists(path):
    """A file or a folder; `*` and NAME stand for any part of a name."""
    if not PLACEHOLDER.search(path):
        return path in FILES or path in FOLDERS
    pattern = re.compile("".join("[^/]+" if p == "*" or p.isupper() else re.escape(p)
                                 for p in re.split(r"(\*|NAME|DIR|FOLDER)", path)))
    return any(pattern.fullmatch(f) for f in FILES | FOLDERS)


def heading_anchor(text):
    return re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).lower()).strip().replace(" ", "-")


def check_page(page):
    text = open(page).read()
    own = re.findall(r"^\*\*`(.*)`\*\*$", text, re.M)  # files that the page tells its reader to write
    for n, line in enumerate(text.split("\n"), 1):
        for word in re.findall(r"`([^`\s]+)`", line):
            path = re.sub(r":\d+$", "", word).rstrip("/")
            if "/" in path and path.split("/")[0] in TOPS and path not in own and not exists(path):
                fail(f"{page}:{n}", f"there is no {word}")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not exists(path):
            fail(page, f"a link leads to {target}, which there is not")
        elif anchor and anchor not in map(heading_anchor, re.findall(r"^#+ (.*)$", open(path).read(), re.M)):
            fail(page, f"a link leads to {target}: no such heading")


def check_source(path):
    for n, line in enumerate(open(path, errors="replace"), 1):
        if re.match(r"\s*#\s*include", line):
            continue
        for word in re.findall(r"(?<![\w/.$\"'<>{}(*-])((?:%s)/[\w./*-]+\.(?:%s))\b(?![*/])" % ("|".join(TOPS), ENDS), line):
            if not exists(word):
                fail(f"{path}:{n}", f"there is no {word}")


os.chdir(sys.argv[1])
FILES = set(walk())
FOLDERS = {os.path.dirname(f) for f in FILES}
FOLDERS |= {"/".join(d.split("/")[:i]) for d in FOLDERS for i in range(1, d.count("/") + 1)}
PAGES = {os.path.basename(f) for f in FILES if f.endswith(".md")}
for f in sorted(FILES):
    if f.endswith(".md"):
        check_page(f)
    if f.endswith(SOURCES):
        check_source(f)
    if f.endswith(SOURCES + (".md",)):
        for n, line in enumerate(open(f, errors="replace"), 1):
            for word in re.findall(r"(?<![$\w])[A-Za-z][\w-]*\.md\b", line):
                if word not in PAGES and "NAME" not in word:
                    fail(f"{f}:{n}", f"there is no page {word}")
readme = open("README.md").read()
for page in sorted(f for f in FILES if re.fullmatch(r"docs/[^/]+\.md", f)):
    if f"]({page})" not in readme:
        fail("README.md", f"its table of pages lacks {page}")
print(f"docs_links: {len(PAGES)} pages, {len(FILES)} files")
sys.exit(failed)
