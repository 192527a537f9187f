"""Makes the wheels ferry-client, without a compiler: builds the client for an architecture, and packs it. Called by
packages.py.
"""
from __future__ import annotations

import shutil
import sys
from pathlib import Path

import sbom
from building import DIST, GLIBC, ROOT, emptied, run, version

ARCHITECTURES = ("x86_64", "aarch64")
SERVERS = ("x86_64", "armv7", "aarch64", "riscv64")  # those that `--remote ssh://BOARD` installs

_METADATA = """Metadata-Version: 2.1
Name: ferry-client
Version: {version}
Summary: Runs, checks, times and compares modules that ferry compiled elsewhere; without a compiler
License: Apache-2.0
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C++
Classifier: Programming Language :: Python :: 3
Requires-Python: >=3.11
Requires-Dist: numpy>=1.24
Provides-Extra: plot
Requires-Dist: matplotlib; extra == "plot"
Description-Content-Type: text/markdown

# ferry-client

The Python package and the command `ferry` for machines on which nothing is compiled, such as a Raspberry Pi or a machine with a
GPU: they run, check, time and compare modules (`.ferry`) that the wheel `ferry` compiled elsewhere, on this machine, on
others and on boards of farms. It takes the place of the wheel `ferry`, and cannot be installed beside it.
"""
_WHEEL = """Wheel-Version: 1.0
Generator: ferry
Root-Is-Purelib: false
"""


def _tags(architecture: str) -> list[str]:
    platform = f"manylinux_{GLIBC.replace('.', '_')}_{architecture}"
    return [f"{python}-{abi}-{platform}" for python in ("cp311", "cp312") for abi in ("abi3", "cp311")]


def _built(architecture: str) -> Path:
    # At the depth of build/client, most of whose objects ccache knows.
    build = ROOT / "build" / f"client-{architecture}"
    run("scripts/python_headers.sh", architecture)
    if not (build / "build.ninja").exists():
        toolchain = [] if architecture == "x86_64" else [f"--toolchain=toolchains/{architecture}-linux-gnu.cmake"]
        # The host's compiler by its name, as ccache knows it, whatever Python's configuration names.
        run("cmake", "-G", "Ninja", "-S", ".", "-B", build, "-DFERRY_COMPILER=OFF", "-DFERRY_CLIENT_PACKAGE=ON",
            "-DCMAKE_BUILD_TYPE=Release", *toolchain, CC="/usr/bin/cc", CXX="/usr/bin/c++")
    run("ninja", "-C", build, "ferry", "ferry_python", "ferry_python_stable",
        CCACHE_BASEDIR=str(ROOT), CCACHE_NOHASHDIR="1")
    return build


def make(architecture: str) -> None:
    """Writes the wheel to dist/."""
    build = _built(architecture)
    name = f"ferry_client-{version()}"
    root = emptied(f"client-{architecture}")
    package, info, scripts = root / "ferry", root / f"{name}.dist-info", root / f"{name}.data" / "scripts"
    for folder in (package / "bin", info / "licenses", info / "sboms", scripts):
        folder.mkdir(parents=True)
    for pattern in ("*.py", "*.pyi", "py.typed"):
        for file in (ROOT / "host/python/ferry").glob(pattern):
            if file.name != "pytest_plugin.py":  # its benchmarks are compiled
                shutil.copy(file, package)
    for module in (build / "python").glob("_ferry.*.so"):
        shutil.copy(module, package)
    shutil.copy(build / "bin" / "ferry", package / "bin")
    shutil.copy(ROOT / "packaging/python/ferry", scripts)
    (scripts / "ferry").chmod(0o755)
    # By this file the package knows itself beside the wheel ferry.
    (package / "ferry-client.txt").write_text("This is the package ferry of the wheel ferry-client, without a compiler.\n")
    for server in (f"{architecture}/dynamic", *(f"{each}/static" for each in SERVERS)):
        to = package / "libexec" / "ferry" / server
        to.mkdir(parents=True)
        shutil.copy(ROOT / "build" / "device" / server / "rpc_server", to)
    for path in package.rglob("*"):
        path.chmod(0o755 if path.is_dir() or path.name in ("ferry", "rpc_server") or path.suffix == ".so" else 0o644)

    (info / "METADATA").write_text(_METADATA.format(version=version()))
    (info / "WHEEL").write_text(_WHEEL + "".join(f"Tag: {tag}\n" for tag in _tags(architecture)))
    shutil.copy(ROOT / "LICENSE", info / "licenses")
    sbom.write(version(), ROOT, info / "licenses", "ferry-client")
    shutil.move(info / "licenses" / "ferry.spdx.json", info / "sboms")
    run(sys.executable, "-m", "wheel", "pack", root, "--dest-dir", DIST)
