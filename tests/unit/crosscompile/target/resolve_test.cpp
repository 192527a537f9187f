#include "crosscompile/target/resolve.h"

#include "crosscompile/ir/error.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace {

using ferry::resolve_target;
using ferry::Target;

std::string refusal(const std::string& text) {
  try {
    resolve_target(text);
  } catch (const ferry::CompileError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("targets as people write them resolve to the four architectures") {
  struct Case {
    const char* text;
    const char* arch;
    const char* triple;
    const char* cpu;
  };
  const Case cases[] = {
      {"llvm -target=x86_64-pc-linux-gnu", "x86_64", "x86_64-unknown-linux-gnu", "x86-64"},
      {"llvm -target=x86_64-linux-gnu -mcpu=skylake-avx512", "x86_64", "x86_64-unknown-linux-gnu", "skylake-avx512"},
      {"llvm -mtriple=armv7l-none-linux-gnueabihf -mcpu=cortex-a72 -mattr=+neon", "armv7",
       "armv7-unknown-linux-gnueabihf", "cortex-a72"},
      {"llvm -device=arm_cpu -mtriple=armv8l-linux-gnueabihf -mattr=+neon", "armv7", "armv7-unknown-linux-gnueabihf",
       "generic"},
      {"llvm -mtriple=arm-linux-gnueabihf -mfloat-abi=hard", "armv7", "armv7-unknown-linux-gnueabihf", "generic"},
      {"llvm --mtriple=aarch64-linux-gnu --mcpu cortex-a76", "aarch64", "aarch64-unknown-linux-gnu", "cortex-a76"},
      {"llvm -mtriple=arm64-linux-gnu", "aarch64", "aarch64-unknown-linux-gnu", "generic"},
      {"-mtriple=riscv64-linux-gnu -mabi=lp64d", "riscv64", "riscv64-unknown-linux-gnu", "generic-rv64"},
      {"riscv64-unknown-linux-gnu", "riscv64", "riscv64-unknown-linux-gnu", "generic-rv64"},
      {"raspberry-pi-3", "aarch64", "aarch64-unknown-linux-gnu", "cortex-a53"},
      {"raspberry-pi-4", "aarch64", "aarch64-unknown-linux-gnu", "cortex-a72"},
      {"raspberry-pi-5", "aarch64", "aarch64-unknown-linux-gnu", "cortex-a76"},
      {"raspberry-pi-4-32bit", "armv7", "armv7-unknown-linux-gnueabihf", "cortex-a72"},
      {"x86-64-v3", "x86_64", "x86_64-unknown-linux-gnu", "x86-64-v3"},
      {"  riscv64-v ", "riscv64", "riscv64-unknown-linux-gnu", "generic-rv64"},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.text));
    const Target target = resolve_target(c.text);
    CHECK(target.arch_name == c.arch);
    CHECK(target.triple == c.triple);
    CHECK(target.cpu == c.cpu);
    CHECK(target.pointer_bits == (target.arch == ferry::Arch::armv7 ? 32 : 64));
    CHECK(std::is_sorted(target.features.begin(), target.features.end()));
  }
}

TEST_CASE("a resolved target's text resolves to the same target") {
  std::vector<std::string> texts{"llvm -mtriple=armv7l-none-linux-gnueabihf -mcpu=cortex-a72 -mattr=+neon,-crc",
                                 "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -mattr=+avxvnni,-fma",
                                 "llvm -mtriple=riscv64-linux-gnu -mattr=+v,-c -num-cores=8",
                                 "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 -mattr=-lse"};
  for (const ferry::NamedTarget& named : ferry::named_targets()) texts.push_back(named.name);
  for (const std::string& text : texts) {
    CAPTURE(text);
    const Target once = resolve_target(text);
    CAPTURE(once.text);
    const Target twice = resolve_target(once.text);
    CHECK(twice.text == once.text);
    CHECK(twice.features == once.features);
    CHECK(twice.cpu == once.cpu);
    CHECK(twice.threads == once.threads);
    CHECK(twice.l1_bytes == once.l1_bytes);
    CHECK(twice.l2_bytes == once.l2_bytes);
    CHECK(twice.vector_bits == once.vector_bits);
  }
}

TEST_CASE("attributes switch features on and off, and the text names only what differs from the CPU") {
  const Target target = resolve_target("llvm -mtriple=armv7-linux-gnueabihf -mcpu=cortex-a72 -mattr=+neon,-crc");
  CHECK(target.has("neon"));
  CHECK_FALSE(target.has("crc"));
  CHECK(target.text == "llvm -mtriple=armv7-unknown-linux-gnueabihf -mcpu=cortex-a72 -mattr=-crc");
  CHECK(resolve_target("x86-64-v3 -mattr=+avx512f").has("avx512f"));
  CHECK_FALSE(resolve_target("x86-64-v3 -mattr=-avx2").has("avx2"));
}

TEST_CASE("vector registers follow from the features") {
  struct Case {
    const char* text;
    std::uint32_t bits, registers;
    bool masks;
  };
  const Case cases[] = {{"x86-64", 128, 16, false},
                        {"x86-64-v2", 128, 16, false},
                        {"x86-64-v3", 256, 16, false},
                        {"x86-64-v4", 512, 32, true},
                        {"llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids", 512, 32, true},
                        {"armv7", 128, 16, false},
                        {"llvm -mtriple=armv7-linux-gnueabihf -mcpu=cortex-a7", 128, 16, false},
                        {"llvm -mtriple=armv7-linux-gnueabihf -mattr=-neon", 8, 16, false},
                        {"raspberry-pi-4", 128, 32, false},
                        {"riscv64", 8, 32, false},
                        {"riscv64-v", 128, 32, true}};
  for (const Case& c : cases) {
    CAPTURE(std::string(c.text));
    const Target target = resolve_target(c.text);
    CHECK(target.vector_bits == c.bits);
    CHECK(target.vector_registers == c.registers);
    CHECK(target.capabilities.masks == c.masks);
  }
}

TEST_CASE("host is this machine and says so in full") {
  const Target host = resolve_target("host");
  CHECK(host.threads >= 1);
  CHECK(contains(host.text, "-mcpu="));
  CHECK_FALSE(contains(host.text, "native"));
  CHECK(resolve_target("llvm").text == host.text);
  CHECK(resolve_target("llvm -mcpu=native").text == host.text);
}

TEST_CASE("a refused target says what was expected") {
  CHECK(contains(refusal("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a27"), "cortex-a"));
  CHECK(contains(refusal("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a27"), "unknown CPU for aarch64 'cortex-a27'"));
  CHECK(contains(refusal("llvm -mtriple=x86_64-linux-gnu -mattr=+avx3"), "nearest known are avx"));
  CHECK(contains(refusal("rasberry-pi-4"), "raspberry-pi-4"));
  CHECK(contains(refusal("llvm -mtripel=x86_64-linux-gnu"), "mtriple"));
  CHECK(contains(refusal("llvm -mtriple=pdp11-linux-gnu"), "expected Linux on"));
  CHECK(contains(refusal("llvm -mtriple=nvptx64-nvidia-cuda"), "expected Linux on"));
  CHECK(contains(refusal("llvm -mtriple=avr-unknown-unknown"), "expected Linux on"));
  CHECK(contains(refusal("llvm -mtriple=armv7-linux-gnueabihf -mfloat-abi=soft"), "expected -mfloat-abi=hard"));
  CHECK(contains(refusal("llvm -num-cores=four"), "expected a number"));
  CHECK(contains(refusal("llvm -mattr=+"), "expected a feature"));
  CHECK(contains(refusal("llvm cortex"), "expected a target option"));
  CHECK(contains(refusal(""), "expected a target"));
  CHECK(contains(refusal("cuda -arch=90"), "expected a GPU such as sm_80 or sm_90a after -arch=, got '90'"));
  CHECK(contains(refusal("cuda -arch=sm_80,"), "got ''"));
  CHECK(contains(refusal("opencl -arch=sm_80"), "unknown option of the target 'opencl' 'arch'"));
}

TEST_CASE("any other CPU that LLVM knows is a target for objects alone") {
  const struct {
    const char *triple, *arch;
    std::uint32_t pointer_bits, vector_bits;
  } kTargets[] = {{"x86_64-apple-darwin", "x86_64", 64, 128},
                  {"armv6k-linux-gnueabi", "arm", 32, 8},
                  {"armv6-linux-gnueabihf", "arm", 32, 8},
                  {"armv7-linux-gnueabi", "arm", 32, 8},
                  {"aarch64-linux-android", "aarch64", 64, 128},
                  {"i686-linux-gnu", "i386", 32, 128},
                  {"mips-linux-gnu", "mips", 32, 8},
                  {"powerpc64le-linux-gnu", "powerpc64le", 64, 8},
                  {"wasm32-unknown-unknown", "wasm32", 32, 8},
                  {"riscv32-unknown-elf", "riscv32", 32, 8},
                  {"x86_64-pc-windows-msvc", "x86_64", 64, 128}};
  for (const auto& expected : kTargets) {
    CAPTURE(std::string(expected.triple));
    const Target target = resolve_target(expected.triple);
    CHECK(target.objects_only);
    CHECK(target.arch_name == expected.arch);
    CHECK(target.pointer_bits == expected.pointer_bits);
    CHECK(target.vector_bits == expected.vector_bits);
    CHECK(resolve_target(target.text).text == target.text);
    CHECK(resolve_target(std::string("llvm -mtriple=") + expected.triple).text == target.text);
  }
  CHECK_FALSE(resolve_target("armv7-linux-gnueabihf").objects_only);
  CHECK_FALSE(resolve_target("x86_64-linux-gnu").objects_only);
}

TEST_CASE("the targets of GPUs say what code is made for") {
  const Target cuda = resolve_target("cuda -arch=sm_80,sm_90a");
  CHECK(cuda.arch == ferry::Arch::cuda);
  CHECK(cuda.gpus == std::vector<std::string>{"sm_80", "sm_90a"});
  CHECK(cuda.text == "cuda -arch=sm_80,sm_90a");
  CHECK(resolve_target("cuda").text == "cuda -arch=sm_80");
  CHECK(resolve_target("cuda -compiler=llvm -arch=sm_90").text == "cuda -arch=sm_90 -compiler=llvm");
  CHECK(contains(refusal("cuda -compiler=nvcc"), "expected nvrtc or llvm after -compiler=, got 'nvcc'"));
  CHECK(resolve_target("opencl").is_source);
  CHECK(cuda.device == ferry::DeviceId{ferry::DeviceKind::cuda, 0});
  CHECK(cuda.block_shared_bytes == 163 * 1024);
  const Target second = resolve_target("cuda:1 -arch=sm_90 -max_threads_per_block=512");
  CHECK(second.device == ferry::DeviceId{ferry::DeviceKind::cuda, 1});
  CHECK(second.text == "cuda -arch=sm_90 -max_threads_per_block=512");
  CHECK(second.block_threads == 512);
  CHECK(second.block_shared_bytes == 227 * 1024);
  CHECK(resolve_target("opencl").block_threads == 0);
  CHECK(contains(refusal("opencl:x"), "expected the number of a device after 'opencl:', got 'x'"));
  CHECK(contains(refusal("opencl -max_threads_per_block=0"), "expected 1 to 1073741824 for -max_threads_per_block"));
}

TEST_CASE("a GPU's target may name the CPU beside it, behind its own options") {
  const Target target = resolve_target("cuda -arch=sm_90 -host=llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72");
  REQUIRE(target.host != nullptr);
  CHECK(target.gpus == std::vector<std::string>{"sm_90"});
  CHECK(target.host->arch_name == "aarch64");
  CHECK(target.host->cpu == "cortex-a72");
  CHECK(target.text == "cuda -arch=sm_90 -host=" + target.host->text);
  const Target again = resolve_target(target.text);
  CHECK(again.text == target.text);
  CHECK(again.host->features == target.host->features);
  CHECK(resolve_target("opencl -host=raspberry-pi-4").host->text == resolve_target("raspberry-pi-4").text);
  CHECK(resolve_target("opencl").host == nullptr);
  CHECK(resolve_target("opencl").uses_host);
  const Target none = resolve_target("opencl -host=none");
  CHECK(none.host == nullptr);
  CHECK_FALSE(none.uses_host);
  CHECK(none.text == "opencl -host=none");
  const std::string expected = "expected a CPU that modules are made for after -host=, got '";
  CHECK(contains(refusal("opencl -host=cuda"), expected + "cuda'"));
  CHECK(contains(refusal("opencl -host=c"), expected + "c'"));
  CHECK(contains(refusal("opencl -host=opencl -host=host"), expected + "opencl -host=host'"));
  CHECK(contains(refusal("opencl -host=llvm -mtriple=wasm32-unknown-unknown"), expected));
  CHECK(contains(refusal("opencl -host=raspbery-pi-4"), "raspberry-pi-4"));
  CHECK(contains(refusal("opencl -host="), "expected a target"));
  CHECK(contains(refusal("opencl -host=host -max_threads_per_block=64"), "max_threads_per_block"));
  CHECK(contains(refusal("llvm -host=host"), "host"));
}

TEST_CASE("the target c is plain C with hints for schedules") {
  const Target plain = resolve_target("c");
  CHECK(plain.text == "c");
  CHECK(plain.arch == ferry::Arch::c);
  CHECK(plain.is_source);
  CHECK_FALSE(plain.pass_groups.loops);
  const Target hinted = resolve_target("c -num-cores=4 -l1-bytes=32768");
  CHECK(hinted.threads == 4);
  CHECK(resolve_target(hinted.text).text == hinted.text);
  CHECK(c_target_like(resolve_target("raspberry-pi-4")).threads == 4);
  CHECK(contains(refusal("c -mcpu=cortex-a72"), "unknown option of the target 'c' 'mcpu'"));
}

TEST_CASE("options that mean nothing here are accepted with the reason") {
  std::vector<std::string> notes;
  resolve_target("llvm -device=arm_cpu -model=bcm2711 -mtriple=aarch64-linux-gnu", &notes);
  REQUIRE(notes.size() == 2);
  CHECK(notes[0] == "-device=arm_cpu is ignored: schedules depend on the CPU, not on a device's name");
}
