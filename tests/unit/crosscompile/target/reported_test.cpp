#include "crosscompile/target/resolve.h"

#include "crosscompile/ir/error.h"

#include <doctest/doctest.h>

namespace {

using ferry::DeviceFacts;
using ferry::Target;

DeviceFacts facts_of(const char* arch, std::vector<std::string> features, const char* identification = "") {
  DeviceFacts facts;
  facts.arch = arch;
  facts.features = std::move(features);
  facts.cpu_identification = identification;
  facts.threads = 4;
  facts.caches = {{1, "instruction", 49152, 64}, {1, "data", 32768, 64}, {2, "unified", 1048576, 64}};
  return facts;
}

}  // namespace

TEST_CASE("a PC's target is its x86-64 level and exactly the features it reports") {
  std::vector<std::string> features{"avx",   "avx2",   "bmi",  "bmi2",   "f16c",   "fma",   "lzcnt",
                                    "movbe", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3", "gfni"};
  const Target target = ferry::target_of(facts_of("x86_64", features));
  CHECK(target.text ==
        "llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=x86-64-v3 -mattr=+gfni -num-cores=4 -l1-bytes=32768 "
        "-l2-bytes=1048576");
  CHECK(target.vector_bits == 256);
  CHECK_FALSE(target.has("avx512f"));
  CHECK(ferry::resolve_target(target.text).text == target.text);
}

TEST_CASE("a PC that lacks one feature of its level falls to the lower one and keeps the others") {
  const Target target =
      ferry::target_of(facts_of("x86_64", {"avx", "avx2", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"}));
  CHECK(target.cpu == "x86-64-v2");
  CHECK(target.has("avx2"));
  CHECK_FALSE(target.has("fma"));
}

TEST_CASE("an ARM board's CPU is read from its identification") {
  const Target target = ferry::target_of(
      facts_of("aarch64", {"crc", "neon"},
               "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd08\n"));
  CHECK(target.cpu == "cortex-a72");
  CHECK(target.has("neon"));
  CHECK(target.l1_bytes == 32768);
  CHECK(target.l2_bytes == 1048576);
  CHECK(target.threads == 4);
}

TEST_CASE("the CPU of each kind of board is that of its lines in /proc/cpuinfo") {
  const std::string arm = "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: ";
  const auto cpu_of = [](const char* arch, const std::string& lines,
                         const std::vector<std::string>& features = {"neon"}) {
    return ferry::target_of(facts_of(arch, features, lines.c_str())).cpu;
  };
  const std::vector<std::string> riscv = {"a", "c", "d", "f", "m"};
  CHECK(cpu_of("aarch64", arm + "0xd03\nCPU revision\t: 4\nHardware\t: BCM2835\nModel\t: Raspberry Pi 3 Model B\n") ==
        "cortex-a53");
  CHECK(cpu_of("aarch64", arm + "0xd08\nCPU revision\t: 3\nModel\t: Raspberry Pi 4 Model B Rev 1.4\n") == "cortex-a72");
  CHECK(cpu_of("aarch64", arm + "0xd0b\nCPU revision\t: 1\nModel\t: Raspberry Pi 5 Model B Rev 1.0\n") == "cortex-a76");
  CHECK(cpu_of("aarch64", arm + "0xd0c\nCPU revision\t: 1\n") == "neoverse-n1");
  // Read from the register of an emulated core.
  CHECK(cpu_of("aarch64", "CPU implementer\t: 0x41\nCPU part\t: 0xd08\n") == "cortex-a72");
  CHECK(cpu_of("aarch64", "CPU implementer\t: 0x41\nCPU part\t: 0xd07\n") == "cortex-a57");
  CHECK(cpu_of("armv7", "CPU implementer\t: 0x41\nCPU architecture: 7\nCPU part\t: 0xc07\nHardware\t: BCM2835\n") ==
        "cortex-a7");
  // Nobody knows these: qemu's "max", an implementer that is not registered, and no lines at all.
  const std::string generic = cpu_of("aarch64", "");
  CHECK(generic == "generic");
  CHECK(cpu_of("aarch64", "CPU implementer\t: 0x00\nCPU part\t: 0x051\n") == generic);
  CHECK(cpu_of("aarch64", "CPU implementer\t: 0x99\nCPU part\t: 0x123\n") == generic);
  CHECK(cpu_of("riscv64", "isa\t: rv64imafdc\nuarch\t: sifive,u74-mc\n", riscv) == "sifive-u74");
  CHECK(cpu_of("riscv64", "isa\t: rv64imafdc\n", riscv) == "generic-rv64");
}

TEST_CASE("what a board does not report is not used, even when its CPU is known to have it") {
  const Target target = ferry::target_of(
      facts_of("armv7", {"neon", "vfp3", "vfp4", "d32"}, "CPU implementer\t: 0x41\nCPU part\t: 0xc07\n"));
  CHECK(target.cpu == "cortex-a7");
  CHECK(target.has("neon"));
  CHECK_FALSE(target.has("hwdiv-arm"));
  CHECK_FALSE(target.has("hwdiv"));
}

TEST_CASE("a board whose CPU nobody knows gets the architecture's baseline plus what it reports") {
  const Target riscv = ferry::target_of(facts_of("riscv64", {"a", "c", "d", "f", "m", "v"}, "isa\t: rv64imafdcv\n"));
  CHECK(riscv.cpu == "generic-rv64");
  CHECK(riscv.has("v"));
  CHECK(riscv.vector_bits == 128);
  const Target arm = ferry::target_of(facts_of("armv7", {"d32", "hwdiv", "hwdiv-arm", "neon", "vfp3", "vfp4"}));
  CHECK(arm.has("vfp4"));
  CHECK(arm.has("hwdiv-arm"));
  CHECK_FALSE(arm.has("fp-armv8"));
  const Target bare = ferry::target_of(facts_of("armv7", {}));
  CHECK_FALSE(bare.has("neon"));
}

TEST_CASE("a RISC-V board that reports no double floats is refused, since its calling convention needs them") {
  for (const std::vector<std::string>& features :
       {std::vector<std::string>{}, {"a", "c", "m"}, {"a", "c", "f", "m"}, {"v"}, {"zfh"}, {"zvfh"}}) {
    try {
      ferry::target_of(facts_of("riscv64", features));
      // The vector float extensions imply the scalar ones.
      CHECK(std::find(features.begin(), features.end(), "zvfh") != features.end());
    } catch (const ferry::CompileError& error) {
      CHECK(std::string(error.what()).find("expected a riscv64 CPU with the features f and d") == 0);
    }
  }
  CHECK_THROWS_AS(ferry::resolve_target("llvm -mtriple=riscv64-linux-gnu -mattr=-d"), ferry::CompileError);
}

TEST_CASE("a device of an unknown architecture is refused by name") {
  CHECK_THROWS_WITH_AS(ferry::target_of(facts_of("sparc", {})),
                       "expected the architecture x86_64, armv7, aarch64 or riscv64; got 'sparc'", ferry::CompileError);
}
