#include "tests/conformance/device/devices.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <utility>

#include "device-runtime/cuda/cuda_device.h"
#include "device-runtime/device/cpu_device.h"
#include "device-runtime/device/null_device.h"
#include "device-runtime/opencl/opencl_device.h"
#include "tests/unit/device-runtime/support/drivers.h"
#include "tests/unit/device-runtime/support/gpu_module.h"

namespace ferry::device {
namespace {

constexpr std::uint64_t kLimit = 10 << 20;

bool is_wanted(const std::string& name) {
  const char* list = getenv("FERRY_CONFORMANCE");
  if (list == nullptr) return true;
  return ("," + std::string(list) + ",").find("," + name + ",") != std::string::npos;
}

TestedDevice with_budget(const char* name) {
  TestedDevice tested;
  tested.name = name;
  tested.own = std::make_unique<MemoryBudget>(kLimit);
  tested.budget = tested.own.get();
  return tested;
}

void check_cuda(const char* name, const Drivers& drivers, bool may_miss,
                const std::function<void(TestedDevice&)>& check) {
  auto opened = CudaDevice::open(drivers, 0, kLimit);
  if (may_miss && opened.status().code() == ErrorCode::unsupported) {
    static bool told = false;
    if (!std::exchange(told, true)) MESSAGE("no GPU here: " << opened.status().message());
    return;
  }
  REQUIRE_MESSAGE(opened.is_ok(), opened.status().message());
  TestedDevice tested;
  tested.name = name;
  tested.budget = &opened.value()->memory();
  tested.device = std::move(opened.value());
  tested.module = std::make_unique<ModuleFile>(test::cuda_module());
  CAPTURE(name);
  check(tested);
}

}  // namespace

void for_each_device(const std::function<void(TestedDevice&)>& check) {
  if (is_wanted("null")) {
    TestedDevice tested = with_budget("null");
    tested.device = std::make_unique<NullDevice>(*tested.own);
    CAPTURE(tested.name);
    check(tested);
  }
  if (is_wanted("cpu")) {
    TestedDevice tested = with_budget("cpu");
    tested.device = std::make_unique<CpuDevice>(ComputeDevice{"cpu", "test", 0}, 2, *tested.own);
    CAPTURE(tested.name);
    check(tested);
  }
  if (is_wanted("opencl")) {
    TestedDevice tested = with_budget("opencl");
    auto opened = OpenClDevice::open(test::kDrivers, 0, *tested.own);
    REQUIRE_MESSAGE(opened.is_ok(), opened.status().message());
    tested.device = std::move(opened.value());
    tested.module = std::make_unique<ModuleFile>(test::gpu_module());
    CAPTURE(tested.name);
    check(tested);
  }
  if (is_wanted("fake cuda")) check_cuda("fake cuda", test::kFakeDrivers, false, check);
  if (is_wanted("cuda")) check_cuda("cuda", test::kDrivers, getenv("FERRY_CONFORMANCE") == nullptr, check);
}

}  // namespace ferry::device
