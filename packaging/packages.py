"""Makes the packages in dist/ of what scripts/build.sh has built: a wheel, an archive that runs from any folder, and
packages for Debian of ferry and of rpc_server. The same sources give the same bytes.

    build/venv/bin/python packaging/packages.py [wheel] [archive] [deb]       (default: all)
"""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "packaging"))
import man_pages  # noqa: E402
import sbom  # noqa: E402

DIST = ROOT / "dist"
WORK = ROOT / "build" / "packages"
# A build on Debian 12 requires glibc 2.34, with the functions of packaging/older. There is a module for Python 3.11, and
# one for 3.12 and newer by the stable ABI.
WHEEL_TAG = ["--python-tag", "cp311.cp312", "--abi-tag", "cp311.abi3", "--platform-tag", "manylinux_2_34_x86_64"]
GLIBC = "2.34"
# Debian's names of the architectures, and which rpc_server runs there: one that can load drivers of GPUs where there are
# such.
SERVERS = {"amd64": "x86_64/dynamic", "arm64": "aarch64/dynamic", "armhf": "armv7/static", "riscv64": "riscv64/static"}


def run(*words: str | Path, **environment: str) -> None:
    done = subprocess.run(words, cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\n{' '.join(map(str, words))}: failed")


def version() -> str:
    found = re.search(r"project\(ferry VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert found is not None
    return found[1]


def emptied(name: str) -> Path:
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def prefix() -> Path:
    """The program, its library, servers, headers, pages and licences in the folders of a prefix."""
    folder = emptied("prefix")
    run("cmake", "--install", "build/release", "--component", "package", "--prefix", folder, "--strip")
    man_pages.write(folder / "bin" / "ferry", folder / "share" / "man" / "man1")
    for shell, place in {"bash": "bash-completion/completions/ferry", "zsh": "zsh/vendor-completions/_ferry",
                         "fish": "fish/vendor_completions.d/ferry.fish"}.items():
        file = folder / "share" / place
        file.parent.mkdir(parents=True)
        with file.open("w") as out:
            subprocess.run([folder / "bin" / "ferry", "completion", shell], check=True, stdout=out)
    notices = folder / "share" / "doc" / "ferry"
    notices.mkdir(parents=True)
    shutil.copy(ROOT / "LICENSE", notices / "copyright")
    sbom.write(version(), ROOT, notices)
    return folder


def wheel() -> None:
    folder = emptied("wheel")
    sbom.write(version(), ROOT, emptied("notices"))  # host/python installs it
    # Python's own configuration may name another compiler, whose results ccache does not know.
    run(sys.executable, "-m", "pip", "wheel", ".", "--no-deps", "--no-build-isolation", "--wheel-dir", folder,
        CC="/usr/bin/cc", CXX="/usr/bin/c++", CCACHE_BASEDIR=str(ROOT), CCACHE_NOHASHDIR="1")
    (made,) = folder.glob("*.whl")
    run(sys.executable, "-m", "wheel", "tags", *WHEEL_TAG, "--remove", made)
    (made,) = folder.glob("*.whl")
    shutil.move(made, DIST / made.name)


def archive(of: Path) -> None:
    name = f"ferry-{version()}-linux-x86_64"

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = "root"
        member.mtime = int(os.environ["SOURCE_DATE_EPOCH"])
        member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
        return member

    with tarfile.open(DIST / f"{name}.tar.xz", "w:xz", format=tarfile.PAX_FORMAT) as out:
        for path in sorted(of.rglob("*")):
            out.add(path, f"{name}/{path.relative_to(of)}", recursive=False, filter=plain)


def deb(name: str, architecture: str, description: str, depends: str, folder: Path, scripts: dict[str, str]) -> None:
    control = folder / "DEBIAN"
    control.mkdir()
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) // 1024
    (control / "control").write_text(
        f"Package: {name}\nVersion: {version()}\nArchitecture: {architecture}\nMaintainer: ferry\nSection: devel\n"
        f"Priority: optional\nInstalled-Size: {size}\nDepends: {depends}\nDescription: {description}\n")
    for script, text in scripts.items():
        (control / script).write_text("#!/bin/sh\nset -e\n" + text)
    for path in [folder, *folder.rglob("*")]:
        is_program = path.is_dir() or path.stat().st_mode & 0o100 != 0 or path.parent == control and path.name in scripts
        path.chmod(0o755 if is_program else 0o644)
    run("dpkg-deb", "--build", "--root-owner-group", "-Zxz", folder, DIST / f"{name}_{version()}_{architecture}.deb")


def deb_of_ferry(of: Path) -> None:
    folder = emptied("deb")
    home = folder / "usr" / "lib" / "ferry"
    shutil.copytree(of, home)
    shutil.move(home / "share", folder / "usr" / "share")
    (folder / "usr" / "bin").mkdir()
    (folder / "usr" / "bin" / "ferry").symlink_to("../lib/ferry/bin/ferry")
    deb("ferry", "amd64", "compiles tensor kernels, runs them on devices elsewhere, and measures them",
        f"libc6 (>= {GLIBC}), libstdc++6 (>= 11), libgcc-s1 (>= 7)", folder, {})


def debs_of_server() -> None:
    for architecture, server in SERVERS.items():
        folder = emptied(f"rpc-server-{architecture}")
        for program, to in {f"build/device/{server}/rpc_server": "usr/bin/rpc_server",
                            "packaging/systemd/rpc_server.sysusers": "usr/lib/sysusers.d/rpc_server.conf",
                            "packaging/systemd/rpc_server.service": "usr/lib/systemd/system/rpc_server.service",
                            "LICENSE": "usr/share/doc/rpc-server/copyright"}.items():
            (folder / to).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / program, folder / to)
        unit = folder / "usr/lib/systemd/system/rpc_server.service"
        unit.write_text(unit.read_text().replace("/usr/local/bin/", "/usr/bin/"))
        sbom.write(version(), ROOT, folder / "usr/share/doc/rpc-server")
        # It listens on the network, so whoever installs it starts it.
        deb("rpc-server", architecture, "runs kernels of ferry for clients that hold a key",
            f"libc6 (>= {GLIBC})" if server.endswith("dynamic") else "libc6", folder,
            {"postinst": "if command -v systemd-sysusers >/dev/null; then systemd-sysusers rpc_server.conf\n"
                         "elif ! getent passwd ferry >/dev/null; then\n"
                         "  useradd --system --no-create-home --home-dir / --shell /usr/sbin/nologin ferry\nfi\n"
                         "if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi\n",
             "prerm": "if [ \"$1\" = remove ] && [ -d /run/systemd/system ]; then systemctl disable --now rpc_server || true; fi\n"})


def main() -> None:
    wanted = sys.argv[1:] or ["wheel", "archive", "deb"]
    if not set(wanted) <= {"wheel", "archive", "deb"}:
        sys.exit(__doc__)
    commit = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True, capture_output=True, text=True)
    os.environ.setdefault("SOURCE_DATE_EPOCH", commit.stdout.strip())
    DIST.mkdir(exist_ok=True)
    if "wheel" in wanted:
        wheel()
    if "archive" in wanted or "deb" in wanted:
        of = prefix()
        if "archive" in wanted:
            archive(of)
        if "deb" in wanted:
            deb_of_ferry(of)
            debs_of_server()
    for path in sorted(DIST.iterdir()):
        print(f"{path.stat().st_size / 1e6:6.1f} MB  {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
