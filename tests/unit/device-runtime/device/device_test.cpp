// Tests of the CPU device beyond the contract of all devices (tests/conformance/device): kernels with their workspaces
// and their output.
#include "device-runtime/device/device.h"

#include <doctest/doctest.h>

#include <cstring>
#include <memory>

#include "device-runtime/device/cpu_device.h"
#include "device-runtime/device/null_device.h"
#include "tests/unit/device-runtime/support/test_module.h"

namespace ferry::device {
namespace {

TEST_CASE("memory beyond what the system has is refused, not promised") {
  MemoryBudget budget(~std::uint64_t{0});
  CpuDevice cpu({"cpu", "test", 0}, 1, budget);
  CHECK(cpu.allocate(std::uint64_t{1} << 60).status().code() == ErrorCode::resource_exhausted);
  CHECK(budget.used() == 0);
}

std::size_t index_of(const Manifest& manifest, const std::string& name) {
  for (std::size_t i = 0; i < manifest.functions.size(); ++i) {
    if (manifest.functions[i].name == name) return i;
  }
  FAIL("no function " << name);
  return 0;
}

struct CpuFixture {
  MemoryBudget budget{64 << 20};
  CpuDevice cpu{{"cpu", "test", 0}, 3, budget};
  ModuleFile module = test::kit_module();
  std::unique_ptr<Program> program;

  CpuFixture() {
    auto loaded = cpu.load(module, {});
    REQUIRE_MESSAGE(loaded.is_ok(), loaded.status().message());
    program = std::move(loaded.value());
  }
  std::unique_ptr<Workload> prepare(const char* name, std::vector<DeviceArgument> arguments, BoundCall bound) {
    auto call = program->prepare(index_of(module.manifest, name), arguments, bound);
    REQUIRE_MESSAGE(call.is_ok(), call.status().message());
    return std::move(call.value());
  }
};

TEST_CASE_FIXTURE(CpuFixture, "a prepared call can be run again and again, and gives its workspaces back") {
  const std::uint64_t before = budget.used();
  CHECK(before > 0);  // the module's code
  float out[100] = {};
  {
    const auto call = prepare("ramp", {{true, nullptr, 100}, {false, out, 0}}, {{100}, {0, 400}, 800, 100});
    CHECK(budget.used() >= before + 800 + 3 * 100);
    for (int i = 0; i < 3; ++i) {
      std::memset(out, 0, sizeof out);
      CHECK(call->run() == 0);
      CHECK(out[99] == 99.0F);
    }
  }
  CHECK(budget.used() == before);
}

TEST_CASE_FIXTURE(CpuFixture, "workspaces beyond the budget are refused when the call is prepared") {
  const std::uint64_t before = budget.used();
  const std::vector<DeviceArgument> arguments = {{true, nullptr, 1}, {false, nullptr, 0}};
  const std::size_t ramp = index_of(module.manifest, "ramp");
  CHECK(program->prepare(ramp, arguments, {{1}, {0, 4}, std::uint64_t{1} << 40, 100}).status().code() ==
        ErrorCode::resource_exhausted);
  CHECK(program->prepare(ramp, arguments, {{1}, {0, 4}, 8, ~std::uint64_t{0} / 2}).status().code() ==
        ErrorCode::resource_exhausted);
  CHECK(budget.used() == before);
}

TEST_CASE_FIXTURE(CpuFixture, "what kernels print is kept until it is taken") {
  const auto call = prepare("say", {}, {});
  CHECK(call->run() == 0);
  CHECK(call->run() == 0);
  CHECK(cpu.take_printed() == "hello from a kernelhello from a kernel");
  CHECK(cpu.take_printed().empty());
  for (int i = 0; i < 5000; ++i) (void)call->run();
  const std::string much = cpu.take_printed();
  CHECK(much.size() < 70'000);
  CHECK(much.find("more was printed than is kept") != std::string::npos);
}

TEST_CASE_FIXTURE(CpuFixture, "a program gives its memory back") {
  program.reset();
  CHECK(budget.used() == 0);
}

TEST_CASE("a module without code for a CPU is refused, the null device takes any and runs nothing") {
  MemoryBudget budget(1 << 20);
  ModuleFile module = test::kit_module();
  module.images.clear();
  CpuDevice cpu({"cpu", "test", 0}, 1, budget);
  CHECK(cpu.load(module, {}).status().message() ==
        "the module has no code for a CPU (expected an image of kind 'elf')");
  NullDevice null(budget);
  auto program = null.load(module, {});
  REQUIRE(program.is_ok());
  auto call = program.value()->prepare(0, {}, {});
  REQUIRE(call.is_ok());
  CHECK(call.value()->run() == 0);
}

}  // namespace
}  // namespace ferry::device
