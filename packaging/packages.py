"""Makes the packages in dist/ of what scripts/build.sh has built: the wheels, an archive that runs from any folder, and
packages for Debian of ferry and of rpc_server. The same sources give the same bytes.

    build/venv/bin/python packaging/packages.py [wheel] [client] [archive] [deb]       (default: all)
"""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import client_wheel
import man_pages
import sbom
from building import DIST, GLIBC, ROOT, emptied, run, version

# There is a module for Python 3.11, and one for 3.12 and newer by the stable ABI.
WHEEL_TAG = ["--python-tag", "cp311.cp312", "--abi-tag", "cp311.abi3", "--platform-tag", "manylinux_2_34_x86_64"]
# Debian's names of the architectures, and which rpc_server runs there: one that can load drivers of GPUs where there are
# such.
SERVERS = {"amd64": "x86_64/dynamic", "arm64": "aarch64/dynamic", "armhf": "armv7/static", "riscv64": "riscv64/static"}


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


def add_service(folder: Path, name: str, user: str) -> dict[str, str]:
    """Adds a systemd unit and its user, and returns the scripts that make the user and end the service with the package. It
    listens on the network, so whoever installs it starts it."""
    unit, sysusers = folder / f"usr/lib/systemd/system/{name}.service", folder / f"usr/lib/sysusers.d/{name}.conf"
    for file in (unit, sysusers):
        file.parent.mkdir(parents=True)
    unit.write_text((ROOT / f"packaging/systemd/{name}.service").read_text().replace("/usr/local/bin/", "/usr/bin/"))
    shutil.copy(ROOT / f"packaging/systemd/{name}.sysusers", sysusers)
    return {"postinst": f"if command -v systemd-sysusers >/dev/null; then systemd-sysusers {name}.conf\n"
                        f"elif ! getent passwd {user} >/dev/null; then\n"
                        f"  useradd --system --no-create-home --home-dir / --shell /usr/sbin/nologin {user}\nfi\n"
                        "if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi\n",
            "prerm": f"if [ \"$1\" = remove ] && [ -d /run/systemd/system ]; then systemctl disable --now {name} || true; fi\n"}


def deb_of_ferry(of: Path) -> None:
    folder = emptied("deb")
    home = folder / "usr" / "lib" / "ferry"
    shutil.copytree(of, home)
    shutil.move(home / "share", folder / "usr" / "share")
    (folder / "usr" / "bin").mkdir()
    (folder / "usr" / "bin" / "ferry").symlink_to("../lib/ferry/bin/ferry")
    deb("ferry", "amd64", "compiles tensor kernels, runs them on devices elsewhere, and measures them",
        f"libc6 (>= {GLIBC}), libstdc++6 (>= 11), libgcc-s1 (>= 7)", folder, add_service(folder, "ferry-farm", "ferry-farm"))


def debs_of_server() -> None:
    for architecture, server in SERVERS.items():
        folder = emptied(f"rpc-server-{architecture}")
        for program, to in {f"build/device/{server}/rpc_server": "usr/bin/rpc_server",
                            "LICENSE": "usr/share/doc/rpc-server/copyright"}.items():
            (folder / to).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / program, folder / to)
        sbom.write(version(), ROOT, folder / "usr/share/doc/rpc-server", "rpc-server")
        deb("rpc-server", architecture, "runs kernels of ferry for clients that hold a key",
            f"libc6 (>= {GLIBC})" if server.endswith("dynamic") else "libc6", folder, add_service(folder, "rpc_server", "ferry"))


def main() -> None:
    wanted = sys.argv[1:] or ["wheel", "client", "archive", "deb"]
    if not set(wanted) <= {"wheel", "client", "archive", "deb"}:
        sys.exit(__doc__)
    commit = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True, capture_output=True, text=True)
    os.environ.setdefault("SOURCE_DATE_EPOCH", commit.stdout.strip())
    DIST.mkdir(exist_ok=True)
    if "wheel" in wanted:
        wheel()
    if "client" in wanted:
        for architecture in client_wheel.ARCHITECTURES:
            client_wheel.make(architecture)
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
