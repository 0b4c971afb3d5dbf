#!/usr/bin/env python3
"""Compares the commands that the documents show with what the binaries' --help says. Prints each difference; exit 1 if any."""

import re
import subprocess
import sys
from pathlib import Path

SCRIPTS = ("scripts/quickstart", "scripts/test", "scripts/bootstrap", "scripts/check-fresh-machine", "scripts/lint")


def help_of(command):
    shown = subprocess.run([*command, "--help"], capture_output=True, text=True, timeout=30, check=False)
    return shown.stdout + shown.stderr if shown.returncode == 0 else None


def flags_in(text):
    return set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text))


def commands_in(document):
    """The program and the words of each command line in a document's shell blocks and inline code."""
    text = document.read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    lines += re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    for line in lines:
        for part in re.split(r"&&|\||;|#", line):
            words = part.split()
            while words and re.match(r"[A-Z_]+=", words[0]):
                words.pop(0)
            if words:
                yield words[0].removeprefix("./"), words[1:]


def subcommand(words):
    """The leading words that may name a command: `token create` of `token create --user NAME`."""
    names = []
    for word in words:
        if not re.fullmatch(r"[a-z]+", word):
            break
        names.append(word)
    return names


def check(root, binary):
    root = Path(root)
    faults = []
    for document in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]:
        for program, words in commands_in(document):
            if program == "assay" or program.endswith("/assay"):
                names = subcommand(words)
                shown = help_of([binary, *names]) if names else help_of([binary])
                label = " ".join(["assay", *names])
            elif program in SCRIPTS:
                shown, label = help_of([str(root / program)]), program
            else:
                continue
            if shown is None:
                faults.append(f"{document.name}: there is no command '{label}'")
                continue
            for flag in flags_in(" ".join(words)) - flags_in(shown):
                faults.append(f"{document.name}: '{label}' has no {flag}")
    told = (root / "docs/configuration.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(--[\w-]+)` \| (?:`(\w+)`)? *\|", told, re.MULTILINE)
    real = flags_in(help_of([binary, "serve"]) or "") - {"--help"}
    for flag in sorted(real - {row[0] for row in rows}):
        faults.append(f"configuration.md does not know {flag}")
    for flag, variable in rows:
        if flag not in real:
            faults.append(f"configuration.md: 'assay serve' has no {flag}")
        if variable != "ASSAY_" + flag[2:].replace("-", "_").upper():
            faults.append(f"configuration.md: {variable} is not the variable of {flag}")
    if len(rows) < 10:
        faults.append("configuration.md: the table of settings was not found")
    return faults


def main():
    if len(sys.argv) != 3:
        print("usage: commands.py ROOT ASSAY_BINARY", file=sys.stderr)
        return 2
    faults = check(sys.argv[1], sys.argv[2])
    print("\n".join(faults) if faults else "commands: the documents show what the binary knows")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
