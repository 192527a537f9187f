"""What packages contain of others: the list of it in SPDX 2.3, and the texts of the licences.

    packaging/sbom.py VERSION FOLDER [PACKAGE]
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

PACKAGES = ("ferry", "ferry-client", "rpc-server")


class _Part(NamedTuple):
    """A part, its licence in SPDX's words, and which of our files contain it, of each package; empty: none."""

    name: str
    licence: str
    in_ferry: str = ""
    in_client: str = ""
    in_server: str = ""


_CLIENT = "ferry, _ferry.so"
# By the names of Debian's packages.
_DEBIAN = [
    _Part("llvm-19-dev", "Apache-2.0 WITH LLVM-exception", "libferry.so: the compiler"),
    _Part("liblld-19-dev", "Apache-2.0 WITH LLVM-exception", "libferry.so: the linker"),
    _Part("libprotobuf-lite32", "BSD-3-Clause", "libprotobuf-lite.so: reading of ONNX files"),
    _Part("zlib1g-dev", "Zlib", "libferry.so"),
    _Part("libzstd-dev", "BSD-3-Clause OR GPL-2.0-only", "libferry.so"),
    _Part("libasio-dev", "BSL-1.0", "libferry.so, rpc_server: sockets", f"{_CLIENT}, rpc_server: sockets", "rpc_server: sockets"),
    _Part("libcereal-dev", "BSD-3-Clause", "libferry.so, rpc_server: messages", f"{_CLIENT}, rpc_server: messages",
          "rpc_server: messages"),
    _Part("libcli11-dev", "BSD-3-Clause", "libferry.so: the command line", "ferry: the command line"),
    _Part("nlohmann-json3-dev", "MIT", "libferry.so: JSON", f"{_CLIENT}: JSON"),
    _Part("libstb-dev", "MIT OR Unlicense", "libferry.so: reading of pictures"),
    _Part("libtomlplusplus-dev", "MIT", "libferry.so: TOML"),
    _Part("libsqlite3-dev", "blessing", "libferry.so: a farm's database"),
    _Part("libssl-dev", "Apache-2.0", "libferry.so: webhooks of a farm"),
    _Part("libcpp-httplib-dev", "MIT", "libferry.so: webhooks of a farm"),
    _Part("libbrotli-dev", "MIT", "libferry.so: webhooks of a farm"),
    _Part("libstdc++-12-dev", "GPL-3.0-or-later WITH GCC-exception-3.1", "rpc_server", f"{_CLIENT}, rpc_server", "rpc_server"),
    _Part("libc6-dev", "LGPL-2.1-or-later", "the static rpc_server", "the static rpc_server", "the static rpc_server"),
]
_PYTHON = [_Part("nanobind", "BSD-3-Clause", "the extension module of Python", "the extension module of Python")]
# Built from Debian's source package; its version stands in the header that is installed.
_SODIUM = _Part("libsodium", "ISC", "libferry.so, rpc_server: keys and encryption",
                f"{_CLIENT}, rpc_server: keys and encryption", "rpc_server: keys and encryption")


def _use(part: _Part, package: str) -> str:
    return {"ferry": part.in_ferry, "ferry-client": part.in_client, "rpc-server": part.in_server}[package]


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


def components(root: Path, package: str) -> list[dict[str, str]]:
    """Name, version, licence, supplier's URL and use of each part of a package, sorted by name."""
    versions = [(part, _debian_version(part.name), "deb/debian") for part in _DEBIAN]
    versions += [(part, metadata.version(part.name), "pypi") for part in _PYTHON]
    versions.append((_SODIUM, _sodium_version(root), "deb/debian"))
    found = [{"name": part.name, "version": version, "licence": part.licence, "use": _use(part, package),
              "url": f"pkg:{kind}/{part.name}@{version}"} for part, version, kind in versions if _use(part, package)]
    return sorted(found, key=lambda part: part["name"])


def spdx(version: str, package: str, parts: list[dict[str, str]]) -> dict[str, object]:
    """The document of https://spdx.github.io/spdx-spec/v2.3."""
    created = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    packages: list[dict[str, object]] = [{
        "SPDXID": "SPDXRef-ferry", "name": package, "versionInfo": version, "downloadLocation": "NOASSERTION",
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
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"{package}-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/{package}-{version}-{os.environ['SOURCE_DATE_EPOCH']}",
        "creationInfo": {"created": created, "creators": ["Tool: ferry packaging"]},
        "packages": packages, "relationships": relations}


def write(version: str, root: Path, folder: Path, package: str = "ferry") -> None:
    """Writes ferry.spdx.json and THIRD_PARTY.txt of a package."""
    parts = components(root, package)
    contained = {part["name"] for part in parts}
    (folder / "ferry.spdx.json").write_text(json.dumps(spdx(version, package, parts), indent=1) + "\n")
    with (folder / "THIRD_PARTY.txt").open("w") as out:
        out.write(f"The package {package} contains parts of these. Their licences follow.\n\n")
        for part in parts:
            out.write(f"  {part['name']} {part['version']}: {part['licence']} ({part['use']})\n")
        for name in (part.name for part in _DEBIAN if part.name in contained):
            out.write(f"\n\n{'=' * 20} {name} {'=' * 20}\n\n{_licence_of(name)}")
        for name in (part.name for part in _PYTHON if part.name in contained):
            for file in metadata.files(name) or []:
                if file.name.startswith("LICENSE"):
                    out.write(f"\n\n{'=' * 20} {name} {'=' * 20}\n\n{file.read_text()}")
        out.write(f"\n\n{'=' * 20} libsodium {'=' * 20}\n\n{(root / 'build/libsodium/LICENSE').read_text()}")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or (len(sys.argv) == 4 and sys.argv[3] not in PACKAGES):
        sys.exit(__doc__)
    write(sys.argv[1], Path(__file__).resolve().parent.parent, Path(sys.argv[2]), *sys.argv[3:])
