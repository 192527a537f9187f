"""booted_long_test.py SOURCE_DIR BINARY_DIR: rpc_server's package for Debian is installed on a machine that boots with
systemd, and its service serves sessions there. The machine is qemu's, which emulates it without KVM, with Debian's kernel; its root is kept in build/roots.
Without debootstrap, root, a network or that kernel (scripts/board_kernels.sh x86_64) it is skipped."""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SOURCE, BINARY = map(Path, sys.argv[1:3])
del sys.argv[1:3]
FERRY = BINARY / "bin/ferry"
ROOT = SOURCE / "build/roots/booted"
KERNEL = SOURCE / "build/boards/x86_64"
MIRROR = "http://deb.debian.org/debian"
PACKAGES = "systemd,systemd-sysv,kmod,iproute2"
SKIPPED = 77
BOOT_SECONDS = 400

MM = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
# In the order of the kernel's needs; those that it has built in are not there.
MODULES = ["virtio", "virtio_ring", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci", "failover", "net_failover",
           "virtio_net"]

# The first program: it moves to a root of its own, because services cannot change that of the kernel's archive.
INIT = f"""#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t devtmpfs dev /dev
for module in {' '.join(MODULES)}; do test ! -e /modules/$module.ko || insmod /modules/$module.ko; done
for try in 1 2 3 4 5 6 7 8 9 10; do ip link show eth0 >/dev/null 2>&1 && break; sleep 0.5; done
ip link set lo up; ip link set eth0 up; ip address add 10.0.2.15/24 dev eth0
mount -t tmpfs -o mode=755,size=80% root /mnt
for each in bin etc home lib lib32 lib64 libx32 opt root sbin srv tmp usr var; do test ! -e /$each || cp -a /$each /mnt; done
mkdir -p /mnt/dev /mnt/proc /mnt/sys /mnt/run /mnt/mnt
exec switch_root /mnt /sbin/init
"""
# What the machine does once it has booted; it prints to the console, which is all that leaves it beside the port.
INSTALL = """#!/bin/sh
exec >/dev/ttyS0 2>&1
echo "system: $(systemctl is-system-running)"
dpkg -i /root/rpc-server.deb || exit
echo "before: $(systemctl is-active rpc_server)"
systemctl enable --now rpc_server
for try in $(seq 100); do test -s /var/lib/rpc_server/keys/default.key && break; sleep 0.1; done
echo "after: $(systemctl is-active rpc_server)"
systemctl show rpc_server -p ProtectSystem -p ProtectHome -p NoNewPrivileges -p PrivateTmp -p StateDirectory \\
  -p MemoryDenyWriteExecute -p SystemCallFilter
stat -c 'key: %U %a' /var/lib/rpc_server/keys/default.key
echo "user: $(getent passwd ferry)"
echo "secret: $(cat /var/lib/rpc_server/keys/default.key | base64 -w 0) :"
# Says who a session is while the test has one.
while sleep 1; do
  for status in $(grep -ls '^Name:.rpc_server' /proc/[0-9]*/status); do
    echo "process: $(sed -n 's/^Uid:.\\([0-9]*\\).*/\\1/p' $status)"
  done
done
"""
UNIT = """[Unit]
After=multi-user.target
[Service]
ExecStart=/root/install
[Install]
WantedBy=multi-user.target
"""


def skip(why: str):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def make_root() -> None:
    if (ROOT / "sbin/init").exists():
        return
    shutil.rmtree(ROOT, ignore_errors=True)
    made = subprocess.run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", ROOT, MIRROR],
                          capture_output=True, text=True)
    if made.returncode != 0:
        skip(f"debootstrap: {made.stdout[-300:]}")
    for unneeded in ("usr/share/doc", "usr/share/locale", "usr/share/man", "var/cache/apt", "var/lib/apt/lists"):
        shutil.rmtree(ROOT / unneeded, ignore_errors=True)


def add(out, path: str, mode: int, content: bytes, inode: int) -> None:
    """A member of an archive that the kernel unpacks: cpio's format "newc"."""
    name = path.encode() + b"\0"
    fields = [inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0]
    header = b"070701" + "".join(f"{field:08x}" for field in fields).encode() + name
    out.write(header + b"\0" * (-len(header) % 4) + content + b"\0" * (-len(content) % 4))


def write_archive(file: Path, more: dict[str, tuple[int, bytes]]) -> None:
    """The root, with further files: their modes and contents by path. Everything belongs to root."""
    with file.open("wb") as out:
        inode = 1
        for folder, folders, files in os.walk(ROOT):
            for name in sorted(folders + files):
                path = Path(folder, name)
                mode = path.lstat().st_mode
                kind = mode & 0o170000
                if kind not in (0o040000, 0o100000, 0o120000):
                    continue  # devices, which the kernel makes
                content = os.fsencode(os.readlink(path)) if kind == 0o120000 else path.read_bytes() if kind == 0o100000 else b""
                add(out, str(path.relative_to(ROOT)), mode, content, inode)
                inode += 1
        for place in sorted({parent for path in more for parent in Path(path).parents if parent != Path(".")}):
            if not (ROOT / place).exists():
                add(out, str(place), 0o040755, b"", inode)
                inode += 1
        for path, (mode, content) in more.items():
            add(out, path, mode, content, inode)
            inode += 1
        add(out, "TRAILER!!!", 0, b"", 0)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class BootedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0 or shutil.which("debootstrap") is None or shutil.which("qemu-system-x86_64") is None:
            skip("it takes root, debootstrap and qemu-system-x86_64")
        if not (KERNEL / "kernel").exists():
            skip("there is no kernel: scripts/board_kernels.sh x86_64")
        make_root()
        subprocess.run([SOURCE / "scripts/package.sh", "deb"], check=True, stdout=subprocess.DEVNULL)
        scratch = tempfile.TemporaryDirectory(prefix="ferry-booted-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = Path(scratch.name)
        (package,) = (SOURCE / "dist").glob("rpc-server_*_amd64.deb")
        wanted = "etc/systemd/system/multi-user.target.wants/install.service"
        write_archive(cls.folder / "archive", {
            "init": (0o100755, INIT.encode()), "root/install": (0o100755, INSTALL.encode()),
            "root/rpc-server.deb": (0o100644, package.read_bytes()),
            "etc/machine-id": (0o100444, b"0123456789abcdef0123456789abcdef\n"),
            "etc/systemd/system/install.service": (0o100644, UNIT.encode()), wanted: (0o120777, b"../install.service"),
            **{f"modules/{file.name}": (0o100644, file.read_bytes()) for file in (KERNEL / "modules").glob("*.ko")}})
        cls.port = free_port()
        cls.console = cls.folder / "console"
        # restrict=on isolates the guest from this machine and its network.
        errors = (cls.folder / "errors").open("w")
        cls.addClassCleanup(errors.close)
        cls.machine = subprocess.Popen(
            ["qemu-system-x86_64", "-M", "q35", "-accel", "tcg", "-cpu", "max", "-smp", "2", "-m", "2048",
             "-display", "none", "-monitor", "none", "-serial", f"file:{cls.console}", "-no-reboot",
             "-kernel", KERNEL / "kernel", "-initrd", cls.folder / "archive", "-append", "console=ttyS0 quiet panic=-1",
             "-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{cls.port}-:9090",
             "-device", "virtio-net-pci,netdev=net"], stderr=errors)
        cls.addClassCleanup(cls.machine.wait)
        cls.addClassCleanup(cls.machine.kill)
        cls.key = cls.folder / "key"
        secret = cls.said(r"secret: (\S+) :")
        cls.key.touch(mode=0o600)
        subprocess.run(["base64", "-d"], input=secret.encode(), stdout=cls.key.open("wb"), check=True)

    @classmethod
    def said(cls, pattern: str) -> str:
        """What the machine has printed, once it has."""
        end = time.monotonic() + BOOT_SECONDS
        while time.monotonic() < end and cls.machine.poll() is None:
            printed = cls.console.read_text(errors="replace") if cls.console.exists() else ""
            if found := re.search(pattern, printed):
                return found[1]
            time.sleep(0.2)
        raise AssertionError(f"the machine did not print {pattern}: {printed[-3000:]}{(cls.folder / 'errors').read_text()}")

    def ferry(self, *words) -> str:
        done = subprocess.run([FERRY, *words, "--remote", f"127.0.0.1:{self.port}", "--key-file", self.key],
                              capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + self.console.read_text(errors="replace")[-2000:])
        return done.stdout

    def test_installing_the_package_starts_nothing_and_the_service_starts_when_asked(self):
        self.assertEqual(self.said(r"before: (\S+)"), "inactive")
        self.assertEqual(self.said(r"after: (\S+)"), "active")
        self.assertRegex(self.said(r"user: (\S+)"), "^ferry:")

    def test_the_service_may_write_to_its_own_folders_alone(self):
        lines = self.said(r"(?s)after: active\s+(.*?)key: ").splitlines()
        shown = dict(line.split("=", 1) for line in lines if "=" in line)
        self.assertEqual(
            {name: shown[name] for name in ("ProtectSystem", "ProtectHome", "NoNewPrivileges", "PrivateTmp",
                                            "MemoryDenyWriteExecute", "StateDirectory")},
            {"ProtectSystem": "strict", "ProtectHome": "yes", "NoNewPrivileges": "yes", "PrivateTmp": "yes",
             "MemoryDenyWriteExecute": "no", "StateDirectory": "rpc_server rpc_server/keys"})
        self.assertIn(shown.get("SystemCallFilter", ""), ("", "~"))  # systemd's text of none
        self.assertEqual(self.said(r"key: (\S+ \S+)"), "root 600")

    def test_a_session_computes_what_the_definition_says(self):
        shown = self.ferry("run", "-e", MM, "--size", "M=33,N=17,K=129", "--check")
        self.assertRegex(shown, r"C: .*")
        self.assertIn("[0. 2. 4.]", self.ferry("run", "-e", "def twice(float(N) A) -> (B) { B(i) = A(i) * 2 }",
                                               "--arg", "A=f32[3]:iota"))

    def test_times_are_taken_from_outside_of_a_runner_that_can_only_notify(self):
        measured = json.loads(self.ferry("bench", "-e", MM, "--size", "M=64,N=64,K=64", "--repeat", "5", "--json"))
        self.assertEqual(re.findall(r'"isolation": *"(\w+)"', json.dumps(measured)), ["notify"])

    def test_sessions_belong_to_the_user_ferry_and_the_server_to_root(self):
        user = self.said(r"user: ferry:[^:]*:(\d+):")
        holding = subprocess.Popen([FERRY, "bench", "-e", MM, "--size", "M=256,N=256,K=256", "--repeat", "400",
                                    "--min-repeat-ms", "100", "--remote", f"127.0.0.1:{self.port}", "--key-file", self.key],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.said(rf"process: ({user})\s")
            self.said(r"process: (0)\s")
        finally:
            holding.kill()
            holding.wait()


if __name__ == "__main__":
    unittest.main(verbosity=2)
