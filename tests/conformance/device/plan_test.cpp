// The contract of every device that runs plans: results at any size, timings, and refusals that state the numbers.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <tuple>
#include <vector>

#include "device-runtime/plan/constant_memory.h"
#include "device-runtime/plan/plan_call.h"
#include "tests/conformance/device/devices.h"
#include "tests/unit/device-runtime/support/gpu_module.h"

namespace ferry::device {
namespace {

void for_each_gpu(const std::function<void(TestedDevice&, Program&)>& check) {
  for_each_device([&](TestedDevice& tested) {
    if (tested.module == nullptr) return;
    auto program = tested.device->load(*tested.module, {});
    REQUIRE_MESSAGE(program.is_ok(), program.status().message());
    check(tested, *program.value());
  });
}

// Arguments of f (tests/unit/device-runtime/support/gpu_module.h) in the device's memory.
struct Arguments {
  Device& device;
  Device* devices[1] = {&device};
  std::size_t n;
  void *in, *out;
  BoundCall bound;

  Arguments(Device& where, std::size_t size) : device(where), n(size) {
    in = device.allocate(4 * n).value();
    out = device.allocate(4 * n).value();
    std::vector<float> a(n);
    for (std::size_t i = 0; i < n; ++i) a[i] = static_cast<float>(i);
    REQUIRE(device.write(in, 0, {reinterpret_cast<const std::uint8_t*>(a.data()), 4 * n}).is_ok());
    bound.symbols = {static_cast<std::int64_t>(n)};
    bound.tensor_bytes = {4 * n, 0, 4 * n};
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  ~Arguments() {
    device.release(in, 4 * n);
    device.release(out, 4 * n);
  }
  Result<std::unique_ptr<PlanCall>> prepare(Program& program, const FunctionInfo& function, float more,
                                            std::span<const MemoryBlock> constants = {}) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &more, sizeof more);
    const std::vector<DeviceArgument> arguments = {{false, in, 0}, {true, nullptr, bits}, {false, out, 0}};
    return PlanCall::prepare(devices, program, function, arguments, bound, {{}, constants});
  }
  // Returns the number of wrong elements in the result.
  std::size_t wrong(float more) const {
    std::vector<float> c(n);
    REQUIRE(device.read(out, 0, {reinterpret_cast<std::uint8_t*>(c.data()), 4 * n}).is_ok());
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i) count += c[n - 1 - i] != 2 * static_cast<float>(i) + more ? 1 : 0;
    return count;
  }
};

TEST_CASE("a plan launches its kernels one after the other, at any size, again and again") {
  for_each_gpu([](TestedDevice& tested, Program& program) {
    for (const std::size_t n : {1U, 15U, 64U, 1000U, 100'000U}) {
      CAPTURE(n);
      const std::uint64_t before = tested.budget->used();
      {
        const Arguments arguments(*tested.device, n);
        auto call = arguments.prepare(program, tested.module->manifest.functions[0], 0.5F);
        REQUIRE_MESSAGE(call.is_ok(), call.status().message());
        for (int run = 0; run < 3; ++run) {
          REQUIRE(call.value()->run() == 0);
          CHECK(call.value()->failure().is_ok());
        }
        CHECK(arguments.wrong(0.5F) == 0);
      }
      CHECK(tested.budget->used() == before);
    }
  });
}

TEST_CASE("an init plan fills persistent buffers once, and calls read them") {
  for_each_gpu([](TestedDevice& tested, Program& program) {
    const ModuleFile module = test::with_init_plan(*tested.module);
    const FunctionInfo& function = module.manifest.functions[0];
    const std::uint64_t before = tested.budget->used();
    {
      const Arguments arguments(*tested.device, 1000);
      std::uint64_t bits = 0;
      const float more = 0.5F;
      std::memcpy(&bits, &more, sizeof more);
      const std::vector<DeviceArgument> given = {
          {false, arguments.in, 0}, {true, nullptr, bits}, {false, arguments.out, 0}};
      auto persistent = allocate_persistent(arguments.devices, function, arguments.bound.symbols);
      REQUIRE_MESSAGE(persistent.is_ok(), persistent.status().message());
      const auto blocks = persistent.value().blocks();
      auto init = PlanCall::prepare_init(arguments.devices, program, function, given, arguments.bound, {blocks});
      REQUIRE_MESSAGE(init.is_ok(), init.status().message());
      REQUIRE(init.value()->run() == 0);
      // Calls do not look at the constant again.
      const std::vector<std::uint8_t> zeros(4000);
      REQUIRE(tested.device->write(arguments.in, 0, zeros).is_ok());
      auto call = PlanCall::prepare(arguments.devices, program, function, given, arguments.bound, {blocks});
      REQUIRE_MESSAGE(call.is_ok(), call.status().message());
      for (int run = 0; run < 2; ++run) REQUIRE(call.value()->run() == 0);
      CHECK(arguments.wrong(more) == 0);
    }
    CHECK(tested.budget->used() == before);
  });
}

TEST_CASE("constants are in the device's memory, aligned, for as long as they are needed") {
  for_each_device([](TestedDevice& tested) {
    const std::uint64_t before = tested.budget->used();
    std::vector<std::uint8_t> blob(4096);
    for (std::size_t i = 0; i < blob.size(); ++i) blob[i] = static_cast<std::uint8_t>(i * 7);
    const auto owner = std::make_shared<int>(1);
    {
      Device* const devices[] = {tested.device.get()};
      ConstantMemory first(devices, std::vector<MemoryBlock>(3));
      REQUIRE(first.add(0, std::span(blob).subspan(64, 100), owner).is_ok());
      REQUIRE(first.add(2, std::span(blob).subspan(1024, 3072), owner).is_ok());
      CHECK(first.has(0));
      CHECK_FALSE(first.has(1));
      // A second set adds to the first, which keeps its own.
      ConstantMemory second(devices, {first.blocks().begin(), first.blocks().end()});
      REQUIRE(second.add(1, std::span(blob).subspan(0, 64), owner).is_ok());
      for (const auto& [constant, offset, bytes] :
           {std::tuple(0, 64, std::size_t{100}), {1, 0, std::size_t{64}}, {2, 1024, std::size_t{3072}}}) {
        const MemoryBlock& block = second.blocks()[static_cast<std::size_t>(constant)];
        REQUIRE(block.bytes == bytes);
        std::vector<std::uint8_t> found(bytes);
        REQUIRE(tested.device->read(block.memory, 0, found).is_ok());
        CHECK(std::equal(found.begin(), found.end(), blob.begin() + offset));
        const bool is_copy = !tested.device->uses_host_memory();
        if (is_copy) CHECK(reinterpret_cast<std::uintptr_t>(block.memory) % 256 == 0);
        CHECK((static_cast<const std::uint8_t*>(block.memory) == blob.data() + offset) == !is_copy);
      }
      CHECK(owner.use_count() == (tested.device->uses_host_memory() ? 4 : 1));
    }
    CHECK(owner.use_count() == 1);
    CHECK(tested.budget->used() == before);
  });
}

TEST_CASE("calls read a range of a constant") {
  for_each_gpu([](TestedDevice& tested, Program& program) {
    constexpr std::size_t kCount = 1000;
    ModuleFile module = *tested.module;
    const ValueIndex offset = test::constant_value(module, 256);
    test::launch_of(module, 0).operands[0] = {OperandKind::constant, 1, offset};
    std::vector<float> blob(64 + kCount);
    for (std::size_t i = 0; i < kCount; ++i) blob[64 + i] = static_cast<float>(i);
    const Arguments arguments(*tested.device, kCount);
    REQUIRE(tested.device->write(arguments.in, 0, std::vector<std::uint8_t>(4 * kCount)).is_ok());
    ConstantMemory constants(arguments.devices, std::vector<MemoryBlock>(2));
    REQUIRE(constants.add(1, {reinterpret_cast<const std::uint8_t*>(blob.data()), 4 * blob.size()}, nullptr).is_ok());
    auto call = arguments.prepare(program, module.manifest.functions[0], 0.5F, constants.blocks());
    REQUIRE_MESSAGE(call.is_ok(), call.status().message());
    REQUIRE(call.value()->run() == 0);
    CHECK(arguments.wrong(0.5F) == 0);
    // An offset beyond the constant is refused before anything runs.
    test::launch_of(module, 0).operands[0].offset =
        test::constant_value(module, static_cast<std::int64_t>(4 * blob.size() + 4));
    CHECK(arguments.prepare(program, module.manifest.functions[0], 0.5F, constants.blocks()).status().message() ==
          "f: the plan works at byte 4260 of memory of 4256 bytes");
  });
}

TEST_CASE("a view inside of a buffer is written where it is") {
  for_each_gpu([](TestedDevice& tested, Program& program) {
    Arguments arguments(*tested.device, 256);
    const std::vector<DeviceArgument> parts = {
        {false, arguments.in, 0}, {true, nullptr, 0}, {false, static_cast<char*>(arguments.out) + 256, 0}};
    arguments.bound.symbols = {64};
    arguments.bound.tensor_bytes = {256, 0, 256};
    auto call =
        PlanCall::prepare(arguments.devices, program, tested.module->manifest.functions[0], parts, arguments.bound);
    REQUIRE_MESSAGE(call.is_ok(), call.status().message());
    REQUIRE(call.value()->run() == 0);
    std::vector<float> c(256);
    REQUIRE(tested.device->read(arguments.out, 0, {reinterpret_cast<std::uint8_t*>(c.data()), 1024}).is_ok());
    CHECK(c[63] == 0);
    CHECK(c[64] == 126);
    CHECK(c[127] == 0);
    CHECK(c[126] == 2);
    CHECK(c[128] == 0);
  });
}

TEST_CASE("samples are timed by the device's clock, cold ones too") {
  for_each_gpu([](TestedDevice& tested, Program& program) {
    const Arguments arguments(*tested.device, 100'000);
    auto call = arguments.prepare(program, tested.module->manifest.functions[0], 1);
    REQUIRE_MESSAGE(call.is_ok(), call.status().message());
    CHECK(call.value()->clock_resolution_ns() > 0);
    REQUIRE(tested.device->prepare_wiping().is_ok());
    for (const std::uint64_t calls : {1U, 20U}) {
      tested.device->wipe_caches();
      std::int64_t elapsed = -1;
      REQUIRE(call.value()->sample(calls, elapsed) == 0);
      CHECK(elapsed > 0);
      CHECK(elapsed < 10'000'000'000);
    }
    CHECK(arguments.wrong(1) == 0);
  });
}

TEST_CASE("each launch of a plan is timed by itself") {
  for_each_gpu([](TestedDevice& tested, Program& program) {
    const Arguments arguments(*tested.device, 100'000);
    auto call = arguments.prepare(program, tested.module->manifest.functions[0], 1);
    REQUIRE_MESSAGE(call.is_ok(), call.status().message());
    const std::vector<StepTime> steps = call.value()->steps();
    REQUIRE(steps.size() == 2);
    CHECK(steps[0].kernel == "twice");
    CHECK(steps[0].grid == std::array<std::uint64_t, 3>{1563, 1, 1});
    CHECK(steps[0].block == std::array<std::uint64_t, 3>{64, 1, 1});
    CHECK(steps[1].kernel == "reversed");
    CHECK(steps[1].grid == std::array<std::uint64_t, 3>{6250, 1, 1});
    CHECK(steps[1].shared_bytes >= 64);
    for (int run = 0; run < 3; ++run) {
      std::vector<std::int64_t> elapsed(2, -1);
      REQUIRE(call.value()->run_timed(elapsed) == 0);
      for (const std::int64_t one : elapsed) {
        CHECK(one > 0);
        CHECK(one < 10'000'000'000);
      }
    }
    CHECK(arguments.wrong(1) == 0);
  });
}

TEST_CASE("what a plan's own checks say is the result, however it is run, and the next call may go well") {
  for_each_gpu([](TestedDevice& tested, Program&) {
    ModuleFile module = test::with_verdict(*tested.module);
    const auto program = tested.device->load(module, {});
    REQUIRE_MESSAGE(program.is_ok(), program.status().message());
    for (const std::int32_t n : {10, 11, 12}) {
      const Arguments arguments(*tested.device, static_cast<std::size_t>(n));
      auto call = arguments.prepare(*program.value(), module.manifest.functions[0], 1);
      REQUIRE_MESSAGE(call.is_ok(), call.status().message());
      CHECK(call.value()->run() == n % 2);
      std::int64_t elapsed = 0;
      CHECK(call.value()->sample(3, elapsed) == n % 2);
      std::vector<std::int64_t> each(3);
      CHECK(call.value()->run_timed(each) == n % 2);
      CHECK(call.value()->failure().is_ok());
    }
    const Arguments without(*tested.device, 10);
    test::launch_of(module, 2).result.offset = test::constant_value(module, 4 * 10 + 256 - 3);
    CHECK(without.prepare(*program.value(), module.manifest.functions[0], 1).status().message() ==
          "f: the plan has no workspace for its result");
  });
}

TEST_CASE("copies and fills run in their turn, before and after launches") {
  for_each_gpu([](TestedDevice& tested, Program&) {
    ModuleFile module = *tested.module;
    FunctionInfo& f = module.manifest.functions[0];
    const ValueIndex bytes =
        add_value(f.plan, 1, manifest_apply(ManifestOp::mul, {manifest_symbol(0), manifest_constant(4)}));
    const Operand between{OperandKind::workspace, 0, test::constant_value(module, 256)};
    const Operand out{OperandKind::argument, 2, kNoValue}, out_end{OperandKind::argument, 2, bytes};
    const ValueIndex four = test::constant_value(module, 4);
    f.plan.steps = {FillStep{out, bytes, 4, 0x40000000}, CopyStep{between, {OperandKind::argument, 0, kNoValue}, bytes},
                    FillStep{between, four, 2, 0x4040},  f.plan.steps[1],
                    FillStep{out, four, 1, 0x41},        CopyStep{out_end, between, kNoValue}};
    auto program = tested.device->load(module, {});
    REQUIRE_MESSAGE(program.is_ok(), program.status().message());
    const Arguments arguments(*tested.device, 100);
    auto call = arguments.prepare(*program.value(), f, 0.5F);
    REQUIRE_MESSAGE(call.is_ok(), call.status().message());
    std::int64_t elapsed = 0;
    CHECK(call.value()->sample(2, elapsed) == 0);
    REQUIRE(call.value()->run() == 0);
    float c[100] = {};
    REQUIRE(tested.device->read(arguments.out, 0, {reinterpret_cast<std::uint8_t*>(c), sizeof c}).is_ok());
    CHECK(c[99] == std::bit_cast<float>(0x40404040) + 0.5F);
    for (std::size_t i = 1; i < 99; ++i) CHECK(c[99 - i] == static_cast<float>(i) + 0.5F);
    CHECK(c[0] == std::bit_cast<float>(0x41414141));
    const std::vector<StepTime> steps = call.value()->steps();
    REQUIRE(steps.size() == 6);
    CHECK(steps[0].kind == StepKind::fill);
    CHECK(steps[1].kind == StepKind::copy);
    CHECK(steps[3].kind == StepKind::launch);
    std::vector<std::int64_t> each(6, -1);
    REQUIRE(call.value()->run_timed(each) == 0);
    for (const std::int64_t one : each) CHECK(one >= 0);
  });
}

TEST_CASE("a plan that would copy or fill outside of its memory is refused before anything runs") {
  for_each_gpu([](TestedDevice& tested, Program& program) {
    const auto refusal = [&](auto make) {
      ModuleFile module = *tested.module;
      FunctionInfo& f = module.manifest.functions[0];
      f.plan.steps = {make(module)};
      REQUIRE(check_manifest(module.manifest).is_ok());
      const Arguments arguments(*tested.device, 10);
      return arguments.prepare(program, f, 1).status().message();
    };
    const Operand in{OperandKind::argument, 0, kNoValue}, out{OperandKind::argument, 2, kNoValue};
    const auto number = test::constant_value;
    CHECK(refusal([&](ModuleFile& m) { return CopyStep{out, in, number(m, 41)}; }) ==
          "f: the plan copies or fills 41 bytes where 40 are left");
    CHECK(refusal([&](ModuleFile& m) {
            return FillStep{{OperandKind::argument, 2, number(m, 8)}, number(m, 36), 4, 0};
          }) == "f: the plan copies or fills 36 bytes where 32 are left");
    CHECK(refusal([&](ModuleFile& m) { return FillStep{out, number(m, 6), 4, 0}; }) ==
          "f: the plan fills 6 bytes with a pattern of 4");
    CHECK(refusal([&](ModuleFile& m) { return FillStep{out, number(m, -1), 1, 0}; }) ==
          "f: expected sizes and offsets of at least 0 bytes in its plan, got -1");
    CHECK(refusal([&](ModuleFile& m) {
            return CopyStep{out, {OperandKind::argument, 2, number(m, 4)}, number(m, 8)};
          }) == "f: the plan copies between overlapping ranges");
    CHECK(refusal([&](ModuleFile& m) { return FillStep{{OperandKind::argument, 2, number(m, 41)}, kNoValue, 1, 0}; }) ==
          "f: the plan works at byte 41 of memory of 40 bytes");
  });
}

TEST_CASE("a grid without blocks runs nothing, and takes next to no time") {
  for_each_gpu([](TestedDevice& tested, Program&) {
    ModuleFile module = *tested.module;
    for (const std::size_t step : {0U, 1U}) {
      test::launch_of(module, step).grid[1] = test::constant_value(module, 0);
    }
    auto program = tested.device->load(module, {});
    REQUIRE(program.is_ok());
    const Arguments arguments(*tested.device, 10);
    auto call = arguments.prepare(*program.value(), module.manifest.functions[0], 1);
    REQUIRE_MESSAGE(call.is_ok(), call.status().message());
    CHECK(call.value()->run() == 0);
    std::int64_t elapsed = -1;
    CHECK(call.value()->sample(5, elapsed) == 0);
    CHECK(elapsed >= 0);
    CHECK(call.value()->steps().empty());
    CHECK(call.value()->run_timed({}) == 0);
    CHECK(arguments.wrong(1) == 10);
  });
}

TEST_CASE("what a device does not take of a launch is refused with both numbers before anything runs") {
  for_each_gpu([](TestedDevice& tested, Program&) {
    const auto refusal = [&](const std::function<void(ModuleFile&, LaunchStep&)>& change) {
      ModuleFile module = *tested.module;
      change(module, test::launch_of(module, 0));
      auto program = tested.device->load(module, {});
      REQUIRE(program.is_ok());
      const Arguments arguments(*tested.device, 10);
      const auto call = arguments.prepare(*program.value(), module.manifest.functions[0], 1);
      REQUIRE_FALSE(call.is_ok());
      CHECK_MESSAGE(call.status().message().find("f: kernel 'twice'") == 0, call.status().message());
      return call.status().message();
    };
    const std::string wide =
        refusal([](ModuleFile& m, LaunchStep& launch) { launch.block[0] = test::constant_value(m, 1 << 20); });
    CHECK_MESSAGE(wide.find("1048576 threads") != std::string::npos, wide);
    const std::string shared =
        refusal([](ModuleFile& m, LaunchStep& launch) { launch.shared_bytes = test::constant_value(m, 1 << 30); });
    CHECK_MESSAGE(shared.find("1073741824 bytes of shared memory") != std::string::npos, shared);
    const std::string grid = refusal(
        [](ModuleFile& m, LaunchStep& launch) { launch.grid[0] = test::constant_value(m, std::int64_t{1} << 40); });
    CHECK_MESSAGE(grid.find("a grid of 1099511627776 along x is larger than any device takes") != std::string::npos,
                  grid);
  });
}

TEST_CASE("a module without an image for the device is refused with what it has") {
  for_each_gpu([](TestedDevice& tested, Program&) {
    ModuleFile module = *tested.module;
    module.images[0].kind = ImageKind::cubin;
    module.images[0].arch = "sm_10";
    const auto program = tested.device->load(module, {});
    REQUIRE_FALSE(program.is_ok());
    CHECK(program.status().code() == ErrorCode::unsupported);
    CHECK_MESSAGE(program.status().message().find("--target") != std::string::npos, program.status().message());
  });
}

}  // namespace
}  // namespace ferry::device
