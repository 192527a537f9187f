#!/usr/bin/env python3
"""Checks the rules for folders: which may include which, where third-party headers may appear, and how long a file may be.

    scripts/check_includes.py [ROOT]

Prints one line per violation and exits with 1 if there is any, otherwise with 0. The tables below define the rules; a new
folder must be added to ORDER.
"""
import re
import sys
from pathlib import Path

# The folders of each area, lowest first. A folder may include itself and the folders before it, but none after it.
ORDER = {
    "rpc": ["rpc/base", "rpc/abi", "rpc", "rpc/transport", "rpc/wire", "rpc/secure"],
    "device-runtime": [
        "device-runtime/stub", "device-runtime/static_libc", "device-runtime/measure", "device-runtime/facts", "device-runtime/threads",
        "device-runtime/loader", "device-runtime/device", "device-runtime/cuda", "device-runtime/opencl",
        "device-runtime/handlers",
        "device-runtime/sandbox", "device-runtime/session", "device-runtime/supervisor", "device-runtime",
    ],
    "crosscompile": [
        "crosscompile/ir", "crosscompile/codegen/llvm/cpu", "crosscompile/target", "crosscompile/passes/lower_math", "crosscompile/passes", "crosscompile/codegen/source", "crosscompile/codegen/cuda",
        "crosscompile/codegen/llvm", "crosscompile/link", "crosscompile/foreign", "crosscompile",
    ],
    "host": [
        "host/npy", "host/stats", "host/lang", "host/schedule/stages", "host/schedule/primitives",
        "host/schedule", "host/lower", "host/ops", "host/no_compiler", "host/verify", "host/session", "host", "host/cli",
        "host/no_compiler/commands",
    ],
}

# Lists what an area may include from other areas: whole areas or single folders.
BELOW = {
    "rpc": [],
    "device-runtime": ["rpc"],
    "crosscompile": ["rpc/base", "rpc/abi"],
    "host": ["crosscompile", "rpc"],
}

# Areas that use the product and that nothing else uses.
TOP = ["tests", "bench", "examples"]

# (headers, the only folders where they may appear, why)
ONLY_IN = [
    (r"(llvm|llvm-c|lld)/", ["crosscompile/codegen/llvm", "crosscompile/link"], "LLVM and lld stay behind two folders"),
    (r"(spdlog|CLI|nlohmann)/|toml(\+\+|\.hpp)", ["host", *TOP], "it is for the host's programs"),
    (r"doctest/", ["tests"], "it is for the tests"),
]

# (headers, folders where they must not appear, why)
NOT_IN = [
    (
        r"(iostream|istream|ostream|sstream|fstream|iomanip|streambuf|locale|regex)$|cereal/archives/",
        ["rpc", "device-runtime"],
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


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def arrow_error(folder: str, included: str) -> str | None:
    """Returns why a file in `folder` may not include one in `included`, both relative to the root; None if it may."""
    area, other = area_of(folder), area_of(included)
    if area in TOP:
        return None if other in ORDER or other == area or within(included, "tests/support") else f"{area}/ may not include {included}"
    if area == other:
        order = ORDER[area]
        if folder not in order:
            return f"folder {folder} is not in the ORDER table of check_includes.py"
        if included not in order:
            return f"folder {included} is not in the ORDER table of check_includes.py"
        if order.index(included) > order.index(folder):
            return f"{included} stands above {folder}"
        return None
    if any(within(included, place) for place in BELOW[area]):
        return None
    return f"{area}/ may include {' and '.join(BELOW[area]) or 'only itself'}, not {included}"


def header_error(folder: str, header: str) -> str | None:
    """Returns why the third-party `header` may not appear in `folder`; None if it may."""
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
    if Path(path).suffix not in SOURCES or area_of(path) not in [*ORDER, *TOP]:
        return errors
    folder = folder_of(path)
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
            if not error and area_of(header) in ORDER and (root / header).exists():
                error = f"expected \"{header}\" in quotes, got <{header}>"
        elif header.startswith(".") or not (root / header).is_file():
            error = f'expected a path from the root, got "{header}"'
        else:
            error = arrow_error(folder, folder_of(header))
        if error:
            errors.append(f"{path}:{number}: {error}")
    return errors


def check_tree(root: Path) -> list[str]:
    errors = []
    for area in [*ORDER, *TOP, "scripts", "cmake"]:
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
