"""Manual pages of ferry and its commands, made from what `ferry help` prints.

    packaging/man_pages.py FERRY FOLDER
"""
from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

# A line of "ferry help" below the heading "Subcommands:", and an option or argument with its description.
_COMMAND = re.compile(r"  ([a-z-]+)  +\S")
_ENTRY = re.compile(r"  (\S.*?)(?:  +(\S.*))?$")


def _escape(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def page(name: str, help_text: str, version: str) -> str:
    """The manual page of a command, in the language of man(7)."""
    lines = help_text.rstrip("\n").split("\n")
    out = [f'.TH "{name.upper().replace(" ", "-")}" 1 "" "ferry {version}"', ".SH NAME"]
    out.append(f"{_escape(name.replace(' ', '-'))} \\- {_escape(lines[0].rstrip('.'))}")
    is_list = False
    for line in lines[1:]:
        if line.startswith("Usage: "):
            out += [".SH SYNOPSIS", ".B " + _escape(line.removeprefix("Usage: "))]
        elif re.fullmatch(r"[A-Z][^.]*:", line):
            heading = line.rstrip(":")
            is_list = heading != "Examples"
            out += [f".SH {_escape(heading.upper())}"]
        elif line.startswith("  ") and is_list and not line.startswith("   "):
            entry = _ENTRY.match(line)
            assert entry is not None
            out += [".TP", ".B " + _escape(entry[1])]
            if entry[2]:
                out.append(_escape(entry[2]))
        elif line.startswith("  ") and is_list:
            out.append(_escape(line.strip()))
        elif line.startswith("  "):
            out += [".nf", _escape(line), ".fi"]
        elif line:
            if is_list:
                out.append(".PP")
                is_list = False
            out.append(_escape(line))
        else:
            out.append(".PP")
    return "\n".join(out) + "\n"


def write(ferry: Path, folder: Path) -> None:
    """Writes ferry.1, and ferry-COMMAND.1 for each command and for those below it."""

    def run(*words: str) -> str:
        return subprocess.run([ferry, *words], check=True, capture_output=True, text=True).stdout

    folder.mkdir(parents=True, exist_ok=True)
    version = run("--version").split()[-1]

    def write_below(words: list[str]) -> None:
        text = run("help", *words)
        (folder / f"{'-'.join(['ferry', *words])}.1").write_text(page(" ".join(["ferry", *words]), text, version))
        _, _, below = text.partition("Subcommands:\n")
        for line in below.split("\n"):
            command = _COMMAND.match(line)
            if command is None:
                break
            write_below([*words, command[1]])

    write_below([])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write(Path(sys.argv[1]), Path(sys.argv[2]))
