"""Runs the commands that README.md and docs/*.md show, and compares what they print, see docs_commands.sh.

docs_commands.py TREE BUILD [--quick] [--write] [PAGE...]

The commands of a page run one after the other in one shell, in a folder that looks like a clone in which `make` was run: what the tree
has at its top, `build`, build/bin in PATH, build/lib/pkgconfig in PKG_CONFIG_PATH; files that the page tells its reader to write are
there.  A page's output may leave lines out by "..."; without any output a command has to succeed.  What is not run, and what is measured
or is another on each machine, is in docs_commands.rules, with a reason.
"""
import difflib, os, re, shutil, signal, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT_S = 900  # of one command
MARK = "==== end of command"
RIG = "/tmp/rig"  # of the pages; a folder of its own here, since others may read the same page


class Rule:
    def __init__(self, line, number):
        parts = [p.strip() for p in re.split(r"(?<!\\) \| ", line)]
        if len(parts) != 4 or parts[1] not in ("skip", "quick", "status", "output") or not parts[3]:
            sys.exit(f"docs_commands.rules:{number}: not PAGE | skip, quick, status or output | PATTERN | REASON")
        self.pages, self.kind, self.pattern, self.reason = parts[0].split(), parts[1], re.compile(parts[2].replace("\\|", "|")), parts[3]
        self.where, self.used = f"docs_commands.rules:{number}", False

    def of(self, page):
        return self.pages == ["*"] or page in self.pages


def read_rules():
    with open(os.path.join(HERE, "docs_commands.rules")) as f:
        return [Rule(line.rstrip("\n"), n) for n, line in enumerate(f, 1) if line.strip() and line[0] != "#"]


def matching(page, kind, text):
    for rule in RULES:
        if rule.kind == kind and rule.of(page) and rule.pattern.search(text):
            rule.used = True
            return rule
    return None


class Command:
    def __init__(self, line):
        self.line, self.text, self.shown, self.shown_lines = line, "", [], []


def complete(text):
    said = subprocess.run(["bash", "-n"], input=text.encode(), stderr=subprocess.PIPE)
    return said.returncode == 0 and b"here-document" not in said.stderr and not text.rstrip().endswith("\\")


def read_page(path):
    """Its commands, and the files it tells its reader to write.  Lines count from 0."""
    lines = open(path).read().split("\n")
    commands, files, fenced, name, named, unfinished = [], {}, False, None, None, False
    for n, line in enumerate(lines):
        bold = re.fullmatch(r"\*\*`(.*)`\*\*", line)
        if bold:
            named = bold[1]
            continue
        if line.startswith("```"):
            fenced, words = not fenced, line[3:].split()
            name = (words[1] if len(words) == 2 and "." in words[1] else named) if fenced else None
            if name and line.startswith("```diff"):
                name = None
            named = None
            if name:
                files[name] = []
            unfinished, open_block = False, False
            continue
        if name:
            files[name].append(line)
            continue
        indent = "" if fenced else "    "
        if not fenced and line and not line.startswith(indent):
            open_block = False
            continue
        text = line[len(indent):] if line.startswith(indent) else ""
        if unfinished:
            commands[-1].text += "\n" + re.sub(r"^> ", "", text)
            unfinished = not complete(commands[-1].text)
        elif text.startswith("$ "):
            commands.append(Command(n))
            commands[-1].text, open_block = text[2:], True
            unfinished = not complete(commands[-1].text)
        elif commands and open_block and (fenced or line):
            commands[-1].shown.append(text)
            commands[-1].shown_lines.append(n)
    for c in commands:
        if re.fullmatch(r"cat [\w.-]+", c.text):
            files.setdefault(c.text[4:], c.shown)  # how a page shows a file
    return lines, commands, {k: "\n".join(v) + "\n" for k, v in files.items()}


class Shell:
    """One bash; its commands have no stdin."""

    def __init__(self, folder, build):
        runtime = os.path.join(folder, ".run")
        os.mkdir(runtime, 0o700)
        env = dict(os.environ, PATH=build + "/bin:" + os.environ["PATH"], PKG_CONFIG_PATH=build + "/lib/pkgconfig",
                   XDG_RUNTIME_DIR=runtime, LC_ALL="C.UTF-8",
                   OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        for variable in ("HEXRIG_DEVICE", "HEXRIG_LIBEXEC", "HEXRIG_FARF", "DSP_LIBRARY_PATH", "LD_LIBRARY_PATH", "MAKEFLAGS"):
            env.pop(variable, None)
        self.folder, self.n = folder, 0
        self.bash = subprocess.Popen(["bash", "--noprofile", "--norc"], cwd=folder, env=env, stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)

    def run(self, text):
        """The lines that it printed, and its exit status; None: it took too long."""
        self.n += 1
        file = f"{self.folder}/.command{self.n}"
        with open(file, "w") as f:
            f.write(text + "\n")
        self.bash.stdin.write(f". {file} </dev/null\nprintf '\\n{MARK} %d\\n' $?\n".encode())
        self.bash.stdin.flush()
        signal.alarm(LIMIT_S)
        out = []
        try:
            for raw in self.bash.stdout:
                line = raw.decode(errors="replace").rstrip("\n")
                if line.startswith(MARK):
                    if out and out[-1] == "":
                        out.pop()  # the mark's own newline
                    return out, int(line[len(MARK):])
                out.append(line)
        except TimeoutError:
            return out + [f"(not done after {LIMIT_S} s)"], None
        finally:
            signal.alarm(0)
        return out + ["(the shell has ended)"], None

    def close(self, build):
        try:
            if self.bash.poll() is None:
                self.run(f"{build}/bin/hexrig down >/dev/null 2>&1; {build}/bin/hexrig down --mount {self.folder}/rig >/dev/null 2>&1; kill $(jobs -p) 2>/dev/null; wait")
            self.bash.stdin.close()
        except (BrokenPipeError, TimeoutError):
            pass
        try:
            os.killpg(self.bash.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.bash.wait()


def on_alarm(number, frame):
    raise TimeoutError


def make_clone(folder, tree, build):
    for name in os.listdir(tree):
        if name not in ("build", ".git"):
            os.symlink(os.path.join(tree, name), os.path.join(folder, name))
    os.symlink(build, os.path.join(folder, "build"))


def plain(lines, page, roots):
    """Lines without what is not the same everywhere."""
    out = []
    for line in lines:
        for root, name in roots:
            line = line.replace(root + "/", name and name + "/").replace(root, name or ".")
        for rule in RULES:
            if rule.kind == "output" and rule.of(page):
                line, n = rule.pattern.subn("#", line)
                rule.used |= n > 0
        out.append(re.sub(r"[ \t]+", " ", line.rstrip()))
    while out and not out[-1]:
        out.pop()
    return out


def agrees(want, have):
    """Where a line is "...", any lines may stand."""
    if "..." not in want:
        return want == have
    parts, part = [], []
    for line in want + ["..."]:
        if line == "...":
            parts.append(part)
            part = []
        else:
            part.append(line)
    if have[:len(parts[0])] != parts[0]:
        return False
    at = len(parts[0])
    for part in parts[1:]:
        found = next((i for i in range(at, len(have) - len(part) + 1) if have[i:i + len(part)] == part), None)
        if found is None:
            return False
        at = found + len(part)
    return want[-1] == "..." or at == len(have)


def check(page, tree, build, quick, write):
    lines, commands, files = read_page(os.path.join(tree, page))
    name, failed, ran, edits = os.path.basename(page), 0, 0, []
    for c in commands:
        for folder in re.findall(r"(?<![\w/.$])(?:share|libexec|include)/\w+", c.text):
            print(f"FAIL {page}:{c.line + 1} {c.text}\n    {folder} is in no clone")
            failed += 1
    chosen = [c for c in commands if not matching(name, "skip", c.text)]
    if quick:
        chosen = [c for c in chosen if matching(name, "quick", c.text)]
    if not chosen:
        return failed, 0, len(commands)
    folder = os.path.realpath(tempfile.mkdtemp())
    os.chmod(folder, 0o711)  # a rig's DSP may be another user
    make_clone(folder, tree, build)
    for file, text in files.items():
        if not os.path.exists(os.path.join(folder, file)) and "/" not in file:
            with open(os.path.join(folder, file), "w") as f:
                f.write(text)
    roots = [(folder + "/rig", RIG), (folder, ""), (tree, ""), (build, "build")]
    shell = Shell(folder, build)
    for c in chosen:
        started = time.time()
        have, status = shell.run(c.text.replace(RIG, folder + "/rig"))
        ran += 1
        while c.shown and not c.shown[-1].strip():
            c.shown.pop()
            c.shown_lines.pop()
        want = plain(c.shown, name, [])
        got = plain(have, name, roots)
        if status is None:
            wrong = have[-1:]
        elif not want or matching(name, "status", c.text):
            wrong = [] if status == 0 else [f"exit status {status}"] + got
        else:
            wrong = [] if agrees(want, got) else list(difflib.unified_diff(want, got, "the page", "now", lineterm="", n=1))
            if wrong and write and "..." not in want:
                edits.append((c, have))
        took = time.time() - started
        print(f"{'FAIL' if wrong else 'ok'} {page}:{c.line + 1} {took:.1f}s {c.text.splitlines()[0]}", flush=True)
        for line in wrong:
            print("    " + line)
        failed += bool(wrong)
        if status is None:
            break
    shell.close(build)
    shutil.rmtree(folder, ignore_errors=True)
    for c, have in reversed(edits):
        while have and not have[-1]:
            have.pop()
        for root, shown in roots:
            have = [line.replace(root + "/", shown and shown + "/") for line in have]
        indent = "" if not lines[c.line].startswith("    ") else "    "
        lines[c.shown_lines[0]:c.shown_lines[-1] + 1] = [indent + line for line in have]
    if edits:
        with open(os.path.join(tree, page), "w") as f:
            f.write("\n".join(lines))
    return failed, ran, len(commands)


def main():
    words = [w for w in sys.argv[1:] if not w.startswith("--")]
    tree, build = os.path.realpath(words[0]), os.path.realpath(words[1])
    pages = words[2:] or ["README.md"] + sorted("docs/" + p for p in os.listdir(tree + "/docs") if p.endswith(".md"))
    quick, failed, ran, shown = "--quick" in sys.argv, 0, 0, 0
    signal.signal(signal.SIGALRM, on_alarm)
    for page in pages:
        f, r, s = check(page, tree, build, quick, "--write" in sys.argv)
        failed, ran, shown = failed + f, ran + r, shown + s
    if not quick and not words[2:]:
        for rule in RULES:
            if not rule.used and rule.kind != "quick":
                print(f"FAIL {rule.where}: nothing is so any more")
                failed += 1
    print(f"docs_commands: {ran} of {shown} commands, {failed} failed")
    return failed != 0


RULES = read_rules()
if __name__ == "__main__":
    sys.exit(main())
