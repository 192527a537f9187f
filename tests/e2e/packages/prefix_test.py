"""prefix_test.py SOURCE_DIR BINARY_DIR CMAKE: what packages contain works in any folder, where nothing of ferry's build
nor LLVM is found, and asks for no newer systems than packages say."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, BINARY = map(Path, sys.argv[1:3])
CMAKE = sys.argv[3]
del sys.argv[1:4]
sys.path.insert(0, str(SOURCE / "packaging"))
import man_pages  # noqa: E402
import sbom  # noqa: E402

# The newest versions in glibc 2.34 and in GCC 11's libstdc++.
NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13)}
DOUBLE = "def twice(float(N) A) -> (B) { B(i) = A(i) * 2 }"


def output_of(*words) -> str:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(PrefixTest.folder), "FERRY_CACHE_DISABLE": "1"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=100)
    if done.returncode != 0:
        raise AssertionError(f"{words} ended with {done.returncode}: {done.stderr}")
    return done.stdout


class PrefixTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="ferry-packages-")
        installed = Path(cls.scratch.name) / "installed"
        subprocess.run([CMAKE, "--install", BINARY, "--component", "package", "--prefix", installed, "--strip"],
                       check=True, capture_output=True)
        cls.folder = Path(cls.scratch.name) / "another place"
        shutil.move(installed, cls.folder)
        cls.ferry = cls.folder / "bin" / "ferry"

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def binaries(self):
        return [self.ferry, *self.folder.glob("lib/*.so*"), *self.folder.glob("libexec/ferry/x86_64/*/rpc_server")]

    def test_the_program_runs_a_kernel_from_another_folder(self):
        shown = output_of(self.ferry, "run", "-e", DOUBLE, "--arg", "A=f32[3]:iota")
        self.assertEqual(shown.split("\n")[:2], ["B = f32[3]", "[0. 2. 4.]"])

    def test_it_compiles_for_every_architecture_without_an_installed_llvm(self):
        for target in ["raspberry-pi-4", "llvm -mtriple=armv7-linux-gnueabihf", "llvm -mtriple=riscv64-linux-gnu"]:
            module = self.folder / "k.ferry"
            self.assertIn("k.ferry", output_of(self.ferry, "compile", "-e", DOUBLE, "--target", target, "-o", module))
        libraries = output_of("ldd", self.folder / "lib" / "libferry.so.0.1")
        self.assertNotRegex(libraries, "LLVM|not found")
        self.assertRegex(libraries, rf"libprotobuf-lite\S+ => {re.escape(str(self.folder))}/lib")

    def test_it_has_all_commands_those_of_a_tracker_too_and_brings_what_they_need(self):
        shown = output_of(self.ferry, "help")
        for command in ["gate", "tune", "records", "farm"]:
            self.assertRegex(shown, rf"(?m)^  {command} ")
        self.assertRegex(output_of(self.ferry, "help", "farm"), r"(?m)^  serve ")
        needed = re.findall(r"NEEDED +(\S+)", output_of("objdump", "-p", self.folder / "lib" / "libferry.so.0.1"))
        self.assertRegex(" ".join(sorted(needed)),
                         r"^ld-linux-x86-64\S+ libc\S+ libgcc_s\S+ libm\S+ libprotobuf-lite\S+ libstdc\S+$")

    def test_a_static_server_is_there_for_each_architecture(self):
        machines = {"x86_64": "X86-64", "armv7": "ARM", "aarch64": "AArch64", "riscv64": "RISC-V"}
        for arch, machine in machines.items():
            header = output_of("readelf", "-h", self.folder / "libexec" / "ferry" / arch / "static" / "rpc_server")
            self.assertRegex(header, rf"Machine: .*{machine}")

    def test_nothing_needs_a_newer_system_than_packages_ask_for(self):
        for binary in self.binaries():
            if binary.parent.name == "static":
                continue
            for name, number in re.findall(r"\((GLIBC|GLIBCXX|CXXABI)_([0-9.]+)\)", output_of("objdump", "-T", binary)):
                newest = NEWEST[name]
                self.assertLessEqual(tuple(map(int, number.split("."))), newest, f"{binary.name} needs {name}_{number}")

    def test_the_library_exports_nothing_of_llvm_and_names_no_folder_of_the_build(self):
        library = self.folder / "lib" / "libferry.so.0.1"
        exported = output_of("nm", "-DC", "--defined-only", library)
        self.assertIn("ferry::", exported)
        self.assertNotRegex(exported, r"\b(llvm|lld|google::protobuf)::")
        for binary in self.binaries():
            self.assertNotIn(str(SOURCE).encode(), binary.read_bytes(), binary.name)

    def test_a_project_finds_the_library_and_links_it(self):
        project = self.folder / "project"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(outside CXX)\nfind_package(ferry 0.1 REQUIRED)\n"
            "add_executable(outside main.cpp)\ntarget_link_libraries(outside ferry::ferry)\n")
        (project / "main.cpp").write_text("""
            #include <ferry/ferry.h>
            #include <cstdio>
            int main() {
              const ferry::Device device = ferry::local_device();
              const auto module = ferry::compile("def f(float(N) a) -> (y) { y(i) = a(i) }", ferry::target_of(device));
              std::printf("%zu\\n", module.bytes().size());
            }""")
        output_of(CMAKE, "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={self.folder}")
        output_of(CMAKE, "--build", project / "build")
        self.assertGreater(int(output_of(project / "build" / "outside")), 500)

    @unittest.skipUnless((BINARY / "python/ferry").is_dir(), "the Python package was not built")
    def test_the_python_package_works_where_it_is_installed(self):
        site = self.folder / "site"
        for component in ("package", "python"):
            subprocess.run([CMAKE, "--install", BINARY, "--component", component, "--prefix", site / "ferry", "--strip"],
                           check=True, capture_output=True)
        leases = "DevicesTest.test_boards_of_a_farm_are_leased_for_a_block"  # whose tracker is that of the package
        for name, *cases in (("in_process",), ("tools",), ("devices", leases)):
            done = subprocess.run(
                [SOURCE / "build/venv/bin/python", SOURCE / f"tests/e2e/python/{name}_test.py", SOURCE, BINARY, *cases],
                env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "PYTHONPATH": str(site)}, cwd=self.folder,
                capture_output=True, text=True, timeout=200)
            self.assertEqual(done.returncode, 0, f"{name}_test: {done.stderr}")

    def test_there_is_a_manual_page_for_every_command_which_man_can_show(self):
        pages = self.folder / "man"
        man_pages.write(self.ferry, pages)
        commands = re.findall(r"(?m)^  ([a-z]+)  +[A-Z]", output_of(self.ferry, "help").partition("Subcommands:")[2])
        self.assertGreater(len(commands), 15)
        for command in commands:
            text = (pages / f"ferry-{command}.1").read_text()
            self.assertTrue(text.startswith(".TH "), command)
            for heading in [".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS"]:
                self.assertIn(heading, text, command)
        self.assertIn("\\-\\-max\\-error RMS[,LARGEST]", (pages / "ferry-compile.1").read_text())
        self.assertTrue((pages / "ferry-gate-init.1").exists())

    def test_the_list_of_parts_has_a_version_and_a_licence_for_each(self):
        os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
        sbom.write("1.2.3", SOURCE, self.folder)
        document = json.loads((self.folder / "ferry.spdx.json").read_text())
        self.assertEqual((document["spdxVersion"], document["creationInfo"]["created"]),
                         ("SPDX-2.3", "2023-11-14T22:13:20Z"))
        parts = {part["name"]: part for part in document["packages"]}
        self.assertTrue(parts["llvm-19-dev"]["versionInfo"].startswith("1:19.1"))
        self.assertEqual(parts["ferry"]["versionInfo"], "1.2.3")
        names = {part["SPDXID"] for part in document["packages"]}
        self.assertEqual(len(names), len(document["packages"]))
        for relation in document["relationships"]:
            self.assertIn(relation["relatedSpdxElement"], names)
        notices = (self.folder / "THIRD_PARTY.txt").read_text()
        for part in document["packages"][1:]:
            self.assertTrue(part["licenseDeclared"] and part["versionInfo"], part["name"])
            self.assertIn(f"\n{'=' * 20} {part['name']} ", notices)


if __name__ == "__main__":
    unittest.main(verbosity=2)
