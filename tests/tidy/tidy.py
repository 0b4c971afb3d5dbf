#!/usr/bin/env python3
"""Checks a source tree against the house rules (README.md beside this file). Prints each breach; exit 1 if any."""

import re
import subprocess
import sys
from pathlib import Path

import coroutines

# Which rooms a room may include, itself aside. The same table stands in docs/architecture.md, where it says why.
EVERYWHERE = {"base"}
ROOMS = {
    "base": set(),
    "json": set(),
    "schema": {"json"},
    "structured": {"json", "schema"},
    "chat": {"json", "schema", "structured"},
    "net": set(),
    "store": {"chat", "json", "net", "structured"},
    "providers": {"chat", "json"},
    "live": {"chat", "json", "net", "store"},
    "tools": {"chat", "json", "net", "schema", "store"},
    "hooks": {"chat", "json", "net"},
    "worker": {"chat", "hooks", "json", "live", "net", "providers", "schema", "store", "structured", "tools"},
    "api": {"chat", "json", "live", "net", "store", "structured"},
    "cli": None,  # all
}
# Files of a room that may use more than the room: the one client that carries the providers' wires.
WIDER = {("providers", "client"): {"net"}}
PURE = {"base", "json", "schema", "structured", "chat", "providers"}

IMPURE_HEADER = re.compile(
    r"^(boost/|asio|curl/|libpq|postgresql/|pg_config|openssl/|spdlog/|sys/socket|netinet/|arpa/|netdb\.h|poll\.h|sys/epoll"
    r"|thread$|future$|condition_variable$|fstream$|filesystem$|iostream$)"
)
FORBIDDEN_NAME = re.compile(r"(^|_)(utils?|common|misc|helpers?|manager)(_|$)")
# Of no time at all: a coroutine lets others run.
YIELD = "sleep_for(Milliseconds(0))"
SLEEP = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep|clock_nanosleep)\b|(?<![\w.>])(::)?sleep\s*\(")
SQL = re.compile(
    r"^\W*(SELECT|INSERT INTO|UPDATE \w+|DELETE FROM|WITH \w+ AS|CREATE (TABLE|INDEX|FUNCTION|TRIGGER|SCHEMA)|ALTER TABLE"
    r"|DROP (TABLE|SCHEMA)|LISTEN|UNLISTEN|NOTIFY)\s|\b(insert\s+into|delete\s+from)\s+\w|\bselect\s.*\sfrom\s",
)
# Spelled so that this file does not break its own rule.
MACHINE_PATH = re.compile(r"(?<![\w.~$}/-])/(" + "work|root|Users" + r")/")
README_LINES_MAX = 60


class Tree:
    def __init__(self, root):
        self.root = root
        self.breaches = []

    def files(self):
        """Tracked and new files, not the ignored ones; every file where the tree is no git repository."""
        try:
            listed = subprocess.run(
                ["git", "-C", self.root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                check=True, capture_output=True, text=True,
            ).stdout
            names = [name for name in listed.split("\0") if name]
        except (subprocess.CalledProcessError, FileNotFoundError):
            names = [str(path.relative_to(self.root)) for path in self.root.rglob("*")]
        return sorted(self.root / name for name in set(names) if (self.root / name).is_file())

    def breach(self, path, line, rule, what):
        self.breaches.append(f"{path.relative_to(self.root)}:{line}: [{rule}] {what}")


def allowed(lines, line, rule):
    """Whether the line, or the comment right above it, waives the rule and gives a reason."""
    waiver = re.compile(r"//\s*tidy: allow " + rule + r" because \w+")
    return any(waiver.search(lines[number - 1]) for number in (line, line - 1) if 0 < number <= len(lines))


def is_test(path):
    return path.stem.endswith(("_test", "_pgtest"))


def check_includes(tree, path, room, text):
    usable = ROOMS[room]
    for wider, rooms in WIDER.items():
        if wider[0] == room and path.stem.startswith(wider[1]):
            usable = usable | rooms
    pure = room in PURE and usable is not None and "net" not in usable
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if not found:
            continue
        target = found[1].split("/")[0]
        if "/" in found[1] and target in ROOMS and usable is not None:
            if target != room and target not in usable | EVERYWHERE:
                tree.breach(path, number, "direction", f"{room}/ may not use {target}/")
        if pure and not is_test(path) and IMPURE_HEADER.match(found[1]):
            tree.breach(path, number, "pure", f"{room}/ is pure: no <{found[1]}>")


def check_pure(tree, path, room, text):
    if room not in PURE or is_test(path) or (room, path.stem) == ("base", "time") or path.stem.startswith("client"):
        return
    for number, line in enumerate(text.splitlines(), 1):
        if "::now(" in line.split("//")[0]:
            tree.breach(path, number, "pure", "reads a clock: take a Clock or a time")


def check_own_header(tree, path, room, text):
    """x.cc includes x.h first, which proves that the header stands alone."""
    if path.suffix != ".cc" or not path.with_suffix(".h").exists():
        return
    first = re.search(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', text, re.MULTILINE)
    if not first or first[1] != f"{room}/{path.stem}.h":
        tree.breach(path, 1, "own-header", f'the first include is not "{room}/{path.stem}.h"')


def check_sql(tree, path, text):
    lines = text.splitlines()
    for token in coroutines.tokens_of(text):
        if token.kind == "string" and SQL.search(token.text) and not allowed(lines, token.line, "sql"):
            tree.breach(path, token.line, "sql", "SQL outside store/")


def check_sleep(tree, path, text):
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        # net/ tests its own timers by waiting on them.
        if tree.root / "src/net" in path.parents and "co_await sleep_for(" in line:
            continue
        if SLEEP.search(line.split("//")[0].replace(YIELD, "")) and not allowed(lines, number, "sleep"):
            tree.breach(path, number, "sleep", "a test waits on a named signal, it does not sleep")


def check_coroutines(tree, path, text, awaiting):
    if not any(name in text for name in awaiting):
        return
    lines = text.splitlines()
    for finding in coroutines.findings_of(text, awaiting):
        if not allowed(lines, finding.line, "coroutine"):
            tree.breach(path, finding.line, "coroutine", f"a {finding.what} in a statement with co_await: name it before")


def check_rooms(tree, files):
    source = tree.root / "src"
    for folder in sorted({path.relative_to(source).parts[0] for path in files if source in path.parents}):
        room = source / folder
        if not room.is_dir():
            continue
        if folder not in ROOMS:
            tree.breach(room, 0, "room", "not in the table of rooms")
        readme = room / "README.md"
        told = readme.read_text(encoding="utf-8") if readme.exists() else ""
        if not told.strip():
            tree.breach(room, 0, "readme", "no README.md")
        elif len(told.splitlines()) > README_LINES_MAX:
            tree.breach(readme, README_LINES_MAX + 1, "readme", f"over {README_LINES_MAX} lines")
        for path in files:
            if path.parent != room or path.suffix != ".cc" or is_test(path) or path.name == "main.cc":
                continue
            tests = [path.with_name(path.stem + suffix) for suffix in ("_test.cc", "_pgtest.cc")]
            if not any(test.exists() for test in tests) and not re.search(rf"\b{re.escape(path.name)}\b|`{path.stem}(\.\*)?`", told):
                tree.breach(path, 1, "test", f"no test beside it; if {folder}/README.md has a reason, it names the file")


def check_document(tree, path, text):
    """What a document shows must be there: linked files, scripts, presets."""
    presets = tree.root / "CMakePresets.json"
    known = set(re.findall(r'"name": "(\w+)"', presets.read_text(encoding="utf-8"))) if presets.exists() else set()
    for number, line in enumerate(text.splitlines(), 1):
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", line):
            if not (path.parent / target).exists():
                tree.breach(path, number, "document", f"links to {target}, which is not there")
        for script in re.findall(r"(?<![\w/.])(?:\./)?(scripts/\w[\w-]*|\.ci/run)\b", line):
            if not (tree.root / script).exists():
                tree.breach(path, number, "document", f"names {script}, which is not there")
        for preset in re.findall(r"--preset (\w+)", line):
            if preset not in known:
                tree.breach(path, number, "document", f"names the preset {preset}, which is not there")


def check(root):
    tree = Tree(Path(root).resolve())
    files = tree.files()
    texts = {}
    for path in files:
        try:
            texts[path] = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
    code = {path: text for path, text in texts.items() if path.suffix in (".h", ".cc")}
    awaiting = coroutines.awaiting_macros(code.values())
    source = tree.root / "src"
    check_rooms(tree, files)
    for path, text in texts.items():
        if FORBIDDEN_NAME.search(path.stem):
            tree.breach(path, 0, "name", "names no job")
        if path.suffix in (".cpp", ".cxx", ".hpp", ".hh"):
            tree.breach(path, 0, "name", "C++ files end in .cc and .h")
        if path.suffix == ".md":
            check_document(tree, path, text)
        if text and not text.endswith("\n") and path.parent.parent != tree.root / "fuzz" / "regressions":
            tree.breach(path, len(text.splitlines()), "newline", "no newline at the end")
        for number, line in enumerate(text.splitlines(), 1):
            if MACHINE_PATH.search(line):
                tree.breach(path, number, "path", "the path of one machine")
            for named in re.findall(r"(?<![\w/])docs/[\w-]+\.md", line):
                if path.name != "tidy_test.py" and not (tree.root / named).exists():
                    tree.breach(path, number, "document", f"names {named}, which is not there")
            if line.startswith(("<<<<<<< ", ">>>>>>> ")):
                tree.breach(path, number, "merge", "a merge marker")
    for path, text in code.items():
        inside = source in path.parents
        room = path.relative_to(source).parts[0] if inside else ""
        if inside and room in ROOMS:
            check_includes(tree, path, room, text)
            check_pure(tree, path, room, text)
            check_own_header(tree, path, room, text)
            if room != "store" and not is_test(path):
                check_sql(tree, path, text)
        if is_test(path) or tree.root / "tests" in path.parents:
            check_sleep(tree, path, text)
        check_coroutines(tree, path, text, awaiting)
    return sorted(tree.breaches)


def main():
    if len(sys.argv) != 2:
        print("usage: tidy.py ROOT", file=sys.stderr)
        return 2
    breaches = check(sys.argv[1])
    for breach in breaches:
        print(breach)
    print(f"tidy: {len(breaches)} breaches of the house rules" if breaches else "tidy: clean")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
