#!/usr/bin/env python3
"""Checks the rules between folders: who may include whom, where third-party headers may appear, how long a file may be.

    scripts/check_includes.py [ROOT]

Prints one line per violation and exits 1 if there is any, 0 otherwise. The tables below are the rules; a new folder takes
part once it stands in MAY_INCLUDE.
"""
import ast
import re
import sys
from functools import cache
from pathlib import Path

# The folders that each folder may include, itself and what those may include not repeated. The lowest layers come first.
MAY_INCLUDE = {
    "base": [],
    "module": ["base"],
    # The wire.
    "rpc": ["module"],
    "rpc/transport": ["base"],
    "rpc/wire": ["rpc", "rpc/transport"],
    "rpc/secure": ["rpc/wire"],
    # Parts of any process that listens: rpc_server and a farm's tracker.
    "rpc/server": ["rpc/secure"],
    # What the boards, the clients and the tracker of a farm agree on.
    "farm/protocol/lease": ["base"],
    "farm/protocol": ["farm/protocol/lease", "rpc/secure"],
    "farm/board": ["device-runtime/facts", "farm/protocol", "rpc/server"],
    "farm/client": ["farm/protocol"],
    # The device.
    "device-runtime/stub": [],
    "device-runtime/static_libc": [],
    "device-runtime/emulator": [],
    "device-runtime/emulator/plugin": ["device-runtime/emulator"],
    "device-runtime/measure": ["module", "device-runtime/emulator"],
    "device-runtime/facts": ["module", "device-runtime/emulator"],
    "device-runtime/threads": ["module"],
    "device-runtime/loader": ["module"],
    "device-runtime/device": ["device-runtime/loader", "device-runtime/measure", "device-runtime/threads"],
    "device-runtime/cuda": ["device-runtime/device"],
    "device-runtime/opencl": ["device-runtime/device"],
    "device-runtime/plan": ["device-runtime/device"],
    "device-runtime/broker": ["device-runtime/facts"],
    "device-runtime/handlers": ["device-runtime/broker", "device-runtime/plan", "rpc/secure"],
    "device-runtime/sandbox": ["base"],
    "device-runtime/session": [
        "device-runtime/cuda", "device-runtime/handlers", "device-runtime/opencl", "device-runtime/sandbox",
    ],
    "device-runtime/supervisor": ["device-runtime/session", "farm/board", "rpc/server"],
    "device-runtime": ["device-runtime/supervisor"],
    # The compiler, which knows of no wire and of no language.
    "crosscompile/ir": ["module"],
    "crosscompile/codegen/llvm/cpu": ["crosscompile/ir"],
    "crosscompile/target": ["crosscompile/codegen/llvm/cpu"],
    "crosscompile/analysis": ["crosscompile/target"],
    "crosscompile/intrinsics": ["crosscompile/target"],
    "crosscompile/passes/simplify": ["crosscompile/analysis"],
    "crosscompile/passes/loops": ["crosscompile/passes/simplify"],
    "crosscompile/passes/vector": ["crosscompile/passes/loops"],
    "crosscompile/passes/memory": ["crosscompile/passes/vector"],
    "crosscompile/passes/gpu": ["crosscompile/passes/memory"],
    "crosscompile/passes/tensorize": ["crosscompile/intrinsics", "crosscompile/passes/gpu"],
    "crosscompile/passes/lower_math": ["crosscompile/target"],
    "crosscompile/passes/legalize": ["crosscompile/passes/tensorize"],
    "crosscompile/passes": ["crosscompile/passes/legalize", "crosscompile/passes/lower_math"],
    "crosscompile/codegen/source": ["crosscompile/passes"],
    "crosscompile/codegen/cuda": ["crosscompile/ir"],
    "crosscompile/codegen/llvm/target": ["crosscompile/target"],
    # Expressions load from memory, addresses are expressions: these four generate code for one another.
    "crosscompile/codegen/llvm": [
        "crosscompile/passes", "crosscompile/codegen/llvm/expr", "crosscompile/codegen/llvm/gpu",
        "crosscompile/codegen/llvm/memory", "crosscompile/codegen/llvm/target",
    ],
    "crosscompile/codegen/llvm/expr": ["crosscompile/codegen/llvm"],
    "crosscompile/codegen/llvm/gpu": ["crosscompile/codegen/llvm"],
    "crosscompile/codegen/llvm/plan": ["crosscompile/codegen/llvm/target"],
    "crosscompile/codegen/llvm/memory": ["crosscompile/codegen/llvm"],
    "crosscompile/link": ["crosscompile/target"],
    "crosscompile/export": ["crosscompile/codegen/llvm/plan", "crosscompile/link"],
    "crosscompile/confine": ["base"],
    "crosscompile/foreign": ["crosscompile/codegen/llvm", "crosscompile/confine", "crosscompile/link"],
    # One folder a kind of target.
    "crosscompile/backend": ["crosscompile/passes"],
    "crosscompile/backend/c": ["crosscompile/backend", "crosscompile/codegen/source"],
    "crosscompile/backend/cuda": [
        "crosscompile/backend", "crosscompile/codegen/cuda", "crosscompile/codegen/llvm", "crosscompile/codegen/source",
    ],
    "crosscompile/backend/native": ["crosscompile/backend", "crosscompile/codegen/llvm", "crosscompile/link"],
    "crosscompile/backend/opencl": ["crosscompile/backend", "crosscompile/codegen/source"],
    "crosscompile": [
        "crosscompile/backend/c", "crosscompile/backend/cuda", "crosscompile/backend/native", "crosscompile/backend/opencl",
        "crosscompile/export", "crosscompile/foreign",
    ],
    # The host: language, schedules, lowering.
    "host/stats": ["base"],
    "host/toml": ["base"],
    "host/text": ["module"],
    "host/lang/bounds": ["crosscompile/analysis"],
    "host/lang": ["host/lang/bounds"],
    "host/lang/reference": ["crosscompile/intrinsics", "host/lang"],
    "host/lang/text": ["host/lang"],
    "host/ops": ["host/lang"],
    "host/schedule/stages": ["crosscompile/passes", "host/lang"],
    "host/schedule/primitives": ["host/schedule/stages"],
    "host/schedule": ["host/schedule/primitives"],
    "host/lower": ["host/schedule"],
    "host/autoschedule": ["host/lower"],
    "host/graph": ["crosscompile/backend", "host/autoschedule", "host/ops"],
    "host/graph/onnx": ["host/graph"],
    "host/graph/onnx/operators": ["host/graph/onnx"],
    "host/graph/kernels": ["host/graph"],
    "host/graph/passes": ["host/autoschedule", "host/graph"],
    "host/graph/plan": ["host/graph"],
    "host/graph/reference": ["host/graph/kernels", "host/graph/passes", "host/lang/reference"],
    "host/graph/compile": ["crosscompile", "host/graph/kernels", "host/graph/passes", "host/graph/plan"],
    # The client and the command line.
    "host/client/npy": ["module"],
    "host/client/blobs": ["host/client/npy"],
    "host/client": ["farm/client", "host/client/blobs", "host/stats", "rpc/secure"],
    "host/compiler/api": ["crosscompile/target", "host/lang"],
    "host/compiler/llvm": [
        "crosscompile", "host/client", "host/compiler/api", "host/graph/compile", "host/graph/onnx", "host/graph/passes",
        "host/graph/reference", "host/lang/text",
    ],
    # The services, which know of no command line.
    "host/kernel": ["host/client", "host/compiler/api", "host/lang/text"],
    "host/verify": ["host/kernel", "host/lang/reference"],
    "host/measure": ["host/verify"],
    "host/export": ["host/kernel"],
    # The gate: which kernels of a project became slower.
    "host/gate/api": ["host/measure"],
    "host/gate/history": ["host/gate/store"],
    "host/gate/run": ["host/gate/diff", "host/gate/store", "host/gate/verdict"],
    "host/gate/store": ["host/client/blobs", "host/gate/api"],
    "host/gate/farm_store": ["farm/client", "host/gate/store"],
    "host/gate/verdict": ["host/gate/api"],
    "host/gate/diff": ["host/gate/api", "host/text"],
    "host/gate/report": ["host/gate/history", "host/text"],
    "host/gate/suite": ["host/gate/verdict", "host/toml"],
    # libferry's services for programs of users, with the compiler.
    "host/api": ["host/measure", "host/compiler/llvm"],
    "host/cli/options": ["host/export", "host/measure", "host/text"],
    "host/cli/completion": ["host/cli/options"],
    "host/cli/commands": ["host/cli/completion", "host/cli/options"],
    "host/cli/gate": [
        "host/cli/commands", "host/gate/farm_store", "host/gate/history", "host/gate/report", "host/gate/run",
        "host/gate/suite",
    ],
    # A farm: who gets which board, and when.
    "farm/api": ["farm/protocol"],
    "farm/core/selector": ["base"],
    "farm/core/schedule": ["base"],
    "farm/core/health": ["base", "host/stats"],
    "farm/core/lease": ["farm/core/schedule", "farm/core/selector", "farm/protocol/lease"],
    "farm/keys": ["farm/protocol"],
    "farm/store": ["farm/core/lease", "farm/keys"],
    "farm/store/modules": ["farm/store", "rpc/server"],
    "farm/relay": ["rpc/server"],
    "farm/tracker": ["farm/api", "farm/client", "farm/relay", "farm/store/modules"],
    "farm/probe": ["farm/core/lease", "host/client"],
    "farm/checkup": ["farm/core/health", "farm/store", "host/client", "host/compiler/api", "host/lang/text"],
    "farm/hooks": ["farm/core/selector"],
    "farm/config": ["farm/core/lease", "farm/hooks", "farm/relay", "host/client", "host/toml"],
    # Its HTTP interface and its page.
    "farm/web/pages": ["farm/core/selector", "farm/protocol", "host/text"],
    "farm/web/site": ["farm/api", "farm/web/pages"],
    "farm/web": ["farm/web/site", "rpc/server"],
    "farm/serve": ["farm/checkup", "farm/config", "farm/probe", "farm/tracker", "farm/web"],
    "farm/cli": ["farm/api", "host/cli/commands"],
    # The program.
    "host/cli": ["farm/cli", "farm/serve", "host/cli/commands", "host/cli/gate", "host/compiler/llvm"],
}

# The headers that are installed stand in include/ferry and include only the standard library and each other. Each of
# them, or each folder of them, counts as part of the folder that defines what it declares.
PUBLIC = {
    "ferry/api.h": "base",
    "ferry/blob_source.h": "base",
    "ferry/error_ratios.h": "base",
    "ferry/error.h": "base",
    "ferry/error_code.h": "base",
    "ferry/hash.h": "base",
    "ferry/time_limit.h": "base",
    "ferry/device_facts.h": "module",
    "ferry/device_id.h": "module",
    "ferry/fill.h": "module",
    "ferry/runtime_api.h": "module",
    "ferry/timing.h": "module",
    "ferry/integer_products.h": "module",
    "ferry/types.h": "module",
    "ferry/client.h": "host/client",
    "ferry/description.h": "host/client",
    "ferry/compile.h": "host/compiler/llvm",
    # For users alone: no folder of the product may include it.
    "ferry/ferry.h": "examples",
    "ferry/measure.h": "host/api",
    "ferry/kernel": "host/kernel",
    "ferry/stats": "host/stats",
    "ferry/verify": "host/verify",
    "ferry/bench": "host/measure",
    "ferry/gpu_facts.h": "host/client",
    "ferry/server_status.h": "host/client",
    "ferry/expr.h": "crosscompile/ir",
    "ferry/math.def": "crosscompile/ir",
    "ferry/operators.h": "crosscompile/ir",
    "ferry/intrinsics.h": "crosscompile/intrinsics",
    "ferry/target": "crosscompile/target",
    "ferry/lang": "host/lang",
    "ferry/lang/text.h": "host/lang/text",
    "ferry/lang.h": "host/lang/text",
    "ferry/ops": "host/ops",
    "ferry/schedule/directive.h": "host/schedule/stages",
    "ferry/schedule/schedule.h": "host/schedule/stages",
    "ferry/schedule/schedule_text.h": "host/lang",
    "ferry/schedule": "host/autoschedule",
    "ferry/schedule.h": "host/autoschedule",
    "ferry/ops.h": "host/ops",
}

# Areas that use the product and are used by nobody.
TOP = ["tests", "bench", "examples"]

# Projects of users, which find ferry as it is installed.
OUTSIDE = "tests/e2e/install/outside"

# (headers, the only folders where they may appear, why)
ONLY_IN = [
    (r"(llvm|llvm-c|lld)/", ["crosscompile/codegen/llvm", "crosscompile/link"], "LLVM and lld stay behind two folders"),
    (r"(spdlog|CLI|nlohmann)/|toml(\+\+|\.hpp)", ["host", "farm", *TOP], "it is for the host's programs"),
    (r"google/protobuf/|onnx\.pb\.h", ["host/graph/onnx"], "only the importer of ONNX files reads protobuf"),
    (r"sqlite3\.h|libpq-fe\.h", ["farm/store"], "databases stay behind the interface Store"),
    (r"httplib\.h", ["farm/hooks", "farm/web", *TOP], "the tracker alone speaks HTTP"),
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
    return (root / ("include" if within(header, "ferry") else "") / header).is_file()


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
        return f"folder {folder} is not in the MAY_INCLUDE table of check_includes.py"
    if other in TOP:
        return f"{folder} is part of the product and may not include {included}"
    if included not in MAY_INCLUDE:
        return f"folder {included} is not in the MAY_INCLUDE table of check_includes.py"
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


def repeated_keys(source: str) -> list[str]:
    """Each key that a table in the Python text `source` has twice: Python would let the second value win silently."""
    errors = []
    for node in ast.walk(ast.parse(source)):
        keys = [key.value for key in node.keys if isinstance(key, ast.Constant)] if isinstance(node, ast.Dict) else []
        errors += [f"line {node.lineno}: the key {key!r} stands twice in one table" for key in set(keys) if keys.count(key) > 1]
    return errors


def main() -> int:
    if errors := repeated_keys(Path(__file__).read_text(encoding="utf-8")):
        print("\n".join(f"{Path(__file__).name}: {error}" for error in errors))
        return 1
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    errors = check_tree(root)
    print("\n".join(errors) if errors else "includes: fine")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
