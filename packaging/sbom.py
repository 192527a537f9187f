"""What packages contain of others: the list of it in SPDX 2.3, and the texts of the licences.

    packaging/sbom.py VERSION FOLDER
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path

# Debian's package, the licence in SPDX's words, and which of our files contain it.
_DEBIAN = [
    ("llvm-19-dev", "Apache-2.0 WITH LLVM-exception", "libferry.so: the compiler"),
    ("liblld-19-dev", "Apache-2.0 WITH LLVM-exception", "libferry.so: the linker"),
    ("libprotobuf-lite32", "BSD-3-Clause", "libprotobuf-lite.so: reading of ONNX files"),
    ("zlib1g-dev", "Zlib", "libferry.so"),
    ("libzstd-dev", "BSD-3-Clause OR GPL-2.0-only", "libferry.so"),
    ("libasio-dev", "BSL-1.0", "libferry.so, rpc_server: sockets"),
    ("libcereal-dev", "BSD-3-Clause", "libferry.so, rpc_server: messages"),
    ("libcli11-dev", "BSD-3-Clause", "libferry.so: the command line"),
    ("nlohmann-json3-dev", "MIT", "libferry.so: JSON"),
    ("libstb-dev", "MIT OR Unlicense", "libferry.so: reading of pictures"),
    ("libtomlplusplus-dev", "MIT", "libferry.so: TOML"),
    ("libstdc++-12-dev", "GPL-3.0-or-later WITH GCC-exception-3.1", "rpc_server"),
    ("libc6-dev", "LGPL-2.1-or-later", "the static rpc_server"),
]
_PYTHON = [("nanobind", "BSD-3-Clause", "the extension module of Python")]
# Built from Debian's source package; its version stands in the header that is installed.
_SODIUM = ("libsodium", "ISC", "libferry.so, rpc_server: keys and encryption")


def _debian_version(package: str) -> str:
    shown = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], check=True, capture_output=True, text=True)
    return shown.stdout


def _sodium_version(root: Path) -> str:
    for line in (root / "build/libsodium/x86_64/include/sodium/version.h").read_text().split("\n"):
        if "SODIUM_VERSION_STRING" in line:
            return line.split('"')[1]
    raise ValueError("expected SODIUM_VERSION_STRING in sodium/version.h")


def _licence_of(package: str) -> str:
    return Path(f"/usr/share/doc/{package}/copyright").read_text(errors="replace")


def components(root: Path) -> list[dict[str, str]]:
    """Name, version, licence, supplier's URL and use of each part, sorted by name."""
    found = []
    for name, licence, use in _DEBIAN:
        version = _debian_version(name)
        found.append({"name": name, "version": version, "licence": licence, "use": use,
                      "url": f"pkg:deb/debian/{name}@{version}"})
    for name, licence, use in _PYTHON:
        version = metadata.version(name)
        found.append({"name": name, "version": version, "licence": licence, "use": use,
                      "url": f"pkg:pypi/{name}@{version}"})
    version = _sodium_version(root)
    found.append({"name": _SODIUM[0], "version": version, "licence": _SODIUM[1], "use": _SODIUM[2],
                  "url": f"pkg:deb/debian/{_SODIUM[0]}@{version}"})
    return sorted(found, key=lambda part: part["name"])


def spdx(version: str, parts: list[dict[str, str]]) -> dict[str, object]:
    """The document of https://spdx.github.io/spdx-spec/v2.3."""
    created = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    packages: list[dict[str, object]] = [{
        "SPDXID": "SPDXRef-ferry", "name": "ferry", "versionInfo": version, "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseDeclared": "Apache-2.0", "licenseConcluded": "Apache-2.0",
        "copyrightText": "NOASSERTION"}]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                  "relatedSpdxElement": "SPDXRef-ferry"}]
    for part in parts:
        name = "SPDXRef-" + part["name"].replace("+", "x").replace("_", "-")
        packages.append({
            "SPDXID": name, "name": part["name"], "versionInfo": part["version"], "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseDeclared": part["licence"], "licenseConcluded": "NOASSERTION",
            "copyrightText": "NOASSERTION", "comment": part["use"],
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": part["url"].replace("+", "%2B")}]})
        relations.append({"spdxElementId": "SPDXRef-ferry", "relationshipType": "CONTAINS", "relatedSpdxElement": name})
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"ferry-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/ferry-{version}-{os.environ['SOURCE_DATE_EPOCH']}",
        "creationInfo": {"created": created, "creators": ["Tool: ferry packaging"]},
        "packages": packages, "relationships": relations}


def write(version: str, root: Path, folder: Path) -> None:
    """Writes ferry.spdx.json and THIRD_PARTY.txt."""
    parts = components(root)
    (folder / "ferry.spdx.json").write_text(json.dumps(spdx(version, parts), indent=1) + "\n")
    with (folder / "THIRD_PARTY.txt").open("w") as out:
        out.write("The packages of ferry contain parts of these. Their licences follow.\n\n")
        for part in parts:
            out.write(f"  {part['name']} {part['version']}: {part['licence']} ({part['use']})\n")
        for name, _, _ in _DEBIAN:
            out.write(f"\n\n{'=' * 20} {name} {'=' * 20}\n\n{_licence_of(name)}")
        for name, _, _ in _PYTHON:
            for file in metadata.files(name) or []:
                if file.name.startswith("LICENSE"):
                    out.write(f"\n\n{'=' * 20} {name} {'=' * 20}\n\n{file.read_text()}")
        out.write(f"\n\n{'=' * 20} libsodium {'=' * 20}\n\n{(root / 'build/libsodium/LICENSE').read_text()}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write(sys.argv[1], Path(__file__).resolve().parent.parent, Path(sys.argv[2]))
