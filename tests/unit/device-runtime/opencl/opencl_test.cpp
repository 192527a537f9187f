// Tests of plans on an OpenCL device with kernels written by hand instead of by ferry's compiler, and of refused
// requests.
#include "device-runtime/opencl/opencl_device.h"

#include <doctest/doctest.h>

#include <cstring>

#include "device-runtime/plan/plan_call.h"
#include "device-runtime/session/compute_devices.h"
#include "tests/unit/device-runtime/support/drivers.h"
#include "tests/unit/device-runtime/support/gpu_module.h"

namespace ferry::device {
namespace {

struct Fixture {
  MemoryBudget budget{64 << 20};
  std::unique_ptr<OpenClDevice> device;

  Fixture() {
    auto opened = OpenClDevice::open(test::kDrivers, 0, budget);
    REQUIRE_MESSAGE(opened.is_ok(), opened.status().message());
    device = std::move(opened.value());
  }
  void* put(const std::vector<float>& values) {
    const std::span bytes(reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(float));
    const auto memory = device->allocate(bytes.size());
    REQUIRE(memory.is_ok());
    REQUIRE(device->write(memory.value(), 0, bytes).is_ok());
    return memory.value();
  }
};

// This test must be the first one: once the library is found, it is not looked up again.
TEST_CASE("a machine without OpenCL, or with too old a one, is told as such") {
  MemoryBudget budget(1 << 20);
  const Drivers none = {[](const char*) -> void* { return nullptr; }, nullptr};
  CHECK(open_device(none, {DeviceKind::opencl, 0}, budget).status().message() ==
        "this machine has no OpenCL: there is no libOpenCL.so.1; install the driver of its GPU");
  static char library;
  const Drivers old = {[](const char*) -> void* { return &library; },
                       [](void*, const char*) -> void* { return nullptr; }};
  CHECK(open_device(old, {DeviceKind::opencl, 0}, budget).status().message() ==
        "this machine's OpenCL is older than 1.2: it has no clGetPlatformIDs; update its driver");
}

TEST_CASE_FIXTURE(Fixture, "a plan launches its kernels one after the other, at any size, again and again") {
  const ModuleFile module = test::gpu_module();
  auto program = device->load(module, {});
  REQUIRE_MESSAGE(program.is_ok(), program.status().message());
  for (const std::size_t n : {1U, 15U, 64U, 1000U}) {
    CAPTURE(n);
    const std::uint64_t before = budget.used();
    std::vector<float> a(n), c(n, -1);
    for (std::size_t i = 0; i < n; ++i) a[i] = static_cast<float>(i);
    void* in = put(a);
    void* out = put(c);
    const float more = 0.5F;
    std::uint64_t bits = 0;
    std::memcpy(&bits, &more, sizeof more);
    const std::vector<DeviceArgument> arguments = {{false, in, 0}, {true, nullptr, bits}, {false, out, 0}};
    BoundCall bound;
    bound.symbols = {static_cast<std::int64_t>(n)};
    bound.tensor_bytes = {4 * n, 0, 4 * n};
    Device* const devices[] = {device.get()};
    {
      auto call = PlanCall::prepare(devices, *program.value(), module.manifest.functions[0], arguments, bound);
      REQUIRE_MESSAGE(call.is_ok(), call.status().message());
      for (int run = 0; run < 3; ++run) {
        REQUIRE(call.value()->run() == 0);
        CHECK(call.value()->failure().is_ok());
      }
    }
    REQUIRE(device->read(out, 0, {reinterpret_cast<std::uint8_t*>(c.data()), 4 * n}).is_ok());
    bool right = true;
    for (std::size_t i = 0; i < n; ++i) right = right && c[n - 1 - i] == 2 * a[i] + more;
    CHECK(right);
    device->release(in, 4 * n);
    device->release(out, 4 * n);
    CHECK(budget.used() == before);
  }
}

TEST_CASE("a device that is out of memory says how much a tensor may have, and goes on") {
  MemoryBudget unlimited(UINT64_MAX);
  auto device = OpenClDevice::open(test::kDrivers, 0, unlimited);
  REQUIRE(device.is_ok());
  const Status refused = device.value()->allocate(std::uint64_t{1} << 45).status();
  CHECK(refused.code() == ErrorCode::resource_exhausted);
  CHECK_MESSAGE(refused.message().find("the OpenCL device is out of memory: expected at most ") == 0,
                refused.message());
  CHECK_MESSAGE(
      refused.message().find("got 35184372088832: free tensors, or take smaller ones (OpenCL: clCreateBuffer: ") !=
          std::string::npos,
      refused.message());
  CHECK(unlimited.used() == 0);
  const auto memory = device.value()->allocate(1000);
  CHECK(memory.is_ok());
  device.value()->release(memory.value(), 1000);
}

TEST_CASE_FIXTURE(Fixture, "source that does not compile is refused with the compiler's words") {
  const auto program =
      device->load(test::gpu_module("kernel void twice(global float* a) { a[0] = nothing_of_the_kind; }"), {});
  REQUIRE_FALSE(program.is_ok());
  CHECK(program.status().code() == ErrorCode::invalid_argument);
  CHECK_MESSAGE(program.status().message().find("nothing_of_the_kind") != std::string::npos,
                program.status().message());
}

TEST_CASE_FIXTURE(Fixture, "a module without OpenCL C is refused, as is a block of more threads than the device has") {
  ModuleFile other = test::gpu_module();
  other.images[0].kind = ImageKind::ptx;
  CHECK(device->load(other, {}).status().message().find("has no OpenCL C") != std::string::npos);

  ModuleFile wide = test::gpu_module();
  test::launch_of(wide, 0).block[0] = test::constant_value(wide, 1 << 20);
  auto program = device->load(wide, {});
  REQUIRE(program.is_ok());
  void* memory = put({1});
  BoundCall bound;
  bound.symbols = {1};
  bound.tensor_bytes = {4, 0, 4};
  const std::vector<DeviceArgument> arguments = {{false, memory, 0}, {true, nullptr, 0}, {false, memory, 0}};
  Device* const devices[] = {device.get()};
  const auto call = PlanCall::prepare(devices, *program.value(), wide.manifest.functions[0], arguments, bound);
  CHECK_MESSAGE(call.status().message().find("f: kernel 'twice' wants 1048576 threads a block; on this device") == 0,
                call.status().message());
  device->release(memory, 4);
}

TEST_CASE("devices are named by kind and number, and what is not there is said") {
  MemoryBudget budget(1 << 20);
  CHECK(open_device(test::kDrivers, {DeviceKind::opencl, 0}, budget).is_ok());
  CHECK(open_device(test::kDrivers, {DeviceKind::opencl, 99}, budget)
            .status()
            .message()
            .find("there is no device opencl:99") == 0);
  CHECK(open_device(test::kDrivers, {DeviceKind::cpu, 1}, budget).status().message() ==
        "this server has no device 'cpu:1'");
}

TEST_CASE("a probe finds the devices without waking a driver in this process") {
  bool is_there = false;
  for (const auto& [device, why_none] : probe_devices(test::kDrivers)) {
    if (device.kind != "opencl" || !why_none.empty()) continue;
    is_there = true;
    CHECK_FALSE(device.name.empty());
    CHECK(device.memory_bytes > 0);
  }
  CHECK(is_there);
}

}  // namespace
}  // namespace ferry::device
