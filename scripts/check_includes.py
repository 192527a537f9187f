#!/usr/bin/env python3
"""Checks the rules between folders: who may include whom, where third-party headers may appear, how long a file may be.

    scripts/check_includes.py [ROOT]

Prints one line per violation and exits 1 if there is any, 0 otherwise. cmake/layers.json says which folders there are and
what each may include; the tables below are about third-party headers.
"""
import re
import sys
from functools import cache
from pathlib import Path

import layers

LAYERS = layers.read()
MAY_INCLUDE = {name: folder.may_include for name, folder in LAYERS.folders.items()}

# The headers that are installed stand in include/ferry and include only the standard library and each other. Each of
# them, or each folder of them, counts as part of the folder that defines what it declares.
PUBLIC = {header: name for name, folder in LAYERS.folders.items() for header in folder.public}
# For users alone: no folder of the product may include it.
PUBLIC["ferry/ferry.h"] = "examples"

# Areas that use the product and are used by nobody.
TOP = ["tests", "bench", "examples"]

# Projects of users, which find ferry as it is installed.
OUTSIDE = "tests/e2e/install/outside"

# (headers, the only folders where they may appear, why)
ONLY_IN = [
    (r"(llvm|llvm-c|lld)/", ["crosscompile/codegen/llvm", "crosscompile/link"], "LLVM and lld stay behind two folders"),
    (r"(CLI|nlohmann)/|toml(\+\+|\.hpp)", ["host", "farm", *TOP], "it is for the host's programs"),
    (r"google/protobuf/|onnx\.pb\.h", ["host/graph/onnx"], "only the importer of ONNX files reads protobuf"),
    (r"sqlite3\.h|libpq-fe\.h", ["farm/store"], "databases stay behind the interface Store"),
    (r"httplib\.h", ["farm/hooks", *TOP], "webhooks alone are an HTTP client"),
    (r"doctest/", ["tests"], "it is for the tests"),
]

# (headers, folders where they must not appear, why)
NOT_IN = [
    (
        r"(iostream|istream|ostream|sstream|fstream|iomanip|streambuf|locale|regex)$|cereal/archives/",
        ["base", "module", "rpc", "farm/protocol", "farm/board", "device-runtime"],
        "streams and locales would double the size of rpc_server",
    ),
]

SOURCES = {".h", ".cpp", ".def", ".inc"}
SCRIPTS = {".py", ".sh", ".cmake"}
MAX_LINES = 400
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def within(folder: str, place: str) -> bool:
    return folder == place or folder.startswith(place + "/")


def area_of(folder: str) -> str:
    return folder.split("/")[0]


AREAS = list(dict.fromkeys(area_of(folder) for folder in MAY_INCLUDE))


def folder_of(path: str) -> str:
    """The folder to whose rules a file is subject, by its path as others include it."""
    folder = path.rpartition("/")[0]
    return PUBLIC.get(path) or PUBLIC.get(folder) or folder


def find_header(root: Path, header: str) -> bool:
    path = root / ("include" if within(header, "ferry") else "") / header
    return path.is_file() or path.with_name(path.name + ".in").is_file()


@cache
def below(folder: str) -> frozenset[str]:
    """`folder` and all folders that it may include, directly or through another."""
    found, open_folders = set(), [folder]
    while open_folders:
        one = open_folders.pop()
        if one not in found:
            found.add(one)
            open_folders += MAY_INCLUDE[one]
    return frozenset(found)


def arrow_error(folder: str, included: str) -> str | None:
    """Why a file in `folder` may not include one in `included`, both relative to the root; None if it may."""
    area, other = area_of(folder), area_of(included)
    if area in TOP:
        return None if other in AREAS or other == area or within(included, "tests/support") else f"{area}/ may not include {included}"
    if folder not in MAY_INCLUDE:
        return f"folder {folder} is not in cmake/layers.json"
    if other in TOP:
        return f"{folder} is part of the product and may not include {included}"
    if included not in MAY_INCLUDE:
        return f"folder {included} is not in cmake/layers.json"
    if included in below(folder):
        return None
    if folder in below(included):
        return f"{included} stands above {folder}"
    return f"{folder} may include {' and '.join(MAY_INCLUDE[folder]) or 'only itself'}, not {included}"


def header_error(folder: str, header: str) -> str | None:
    """Why the third-party `header` may not appear in `folder`; None if it may."""
    for pattern, places, why in ONLY_IN:
        if re.match(pattern, header) and not any(within(folder, place) for place in places):
            return f"<{header}> belongs in {', '.join(places)}: {why}"
    for pattern, places, why in NOT_IN:
        if re.match(pattern, header) and any(within(folder, place) for place in places):
            return f"<{header}> must not appear in {', '.join(places)}: {why}"
    return None


def check_file(root: Path, path: str) -> list[str]:
    lines = (root / path).read_text(encoding="utf-8", errors="replace").splitlines()
    errors = []
    if len(lines) > MAX_LINES:
        errors.append(f"{path}: expected at most {MAX_LINES} lines, got {len(lines)}")
    if Path(path).suffix not in SOURCES or area_of(path) not in [*AREAS, *TOP, "include"]:
        return errors
    is_public = within(path, "include/ferry")
    folder = folder_of(path.removeprefix("include/"))
    if folder == "device-runtime/stub":
        return errors
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, header = match.groups()
        error = None
        if quote == "<":
            error = header_error(folder, header)
            ours = area_of(header) in [*AREAS, "ferry"] and find_header(root, header)
            if within(folder, OUTSIDE):
                if ours and not within(header, "ferry"):
                    error = f"<{header}> is not installed"
            elif not error and ours:
                error = f"expected \"{header}\" in quotes, got <{header}>"
            elif is_public and not re.fullmatch(r"[a-z_]+(\.h)?", header):
                error = f"an installed header may include the standard library, not <{header}>"
        elif within(folder, OUTSIDE):
            error = f'expected a header of ferry in angle brackets, got "{header}"'
        elif header.startswith(".") or not find_header(root, header):
            error = f'expected a path from the root or from include/, got "{header}"'
        elif is_public and not within(header, "ferry"):
            error = f"an installed header may not include {header}, which is not installed"
        else:
            error = arrow_error(folder, folder_of(header))
        if error:
            errors.append(f"{path}:{number}: {error}")
    return errors


def check_tree(root: Path) -> list[str]:
    errors = []
    for area in [*AREAS, *TOP, "include", "scripts", "cmake"]:
        for file in sorted((root / area).rglob("*")):
            if file.suffix in SOURCES | SCRIPTS and file.is_file():
                errors += check_file(root, file.relative_to(root).as_posix())
    return errors


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    errors = check_tree(root)
    print("\n".join(errors) if errors else "includes: fine")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
