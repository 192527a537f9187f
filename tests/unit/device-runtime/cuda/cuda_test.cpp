// Tests the CUDA device on a driver that tests can make fail (tests/support/fake_cuda): requests that are refused, and
// the state after a kernel crash.
#include "device-runtime/cuda/cuda_device.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tuple>

#include "device-runtime/plan/plan_call.h"
#include "device-runtime/session/compute_devices.h"
#include "tests/unit/device-runtime/support/drivers.h"
#include "tests/unit/device-runtime/support/gpu_module.h"

namespace ferry::device {
namespace {

// Sets an environment variable for the lifetime of this object.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  ~Setting() { unsetenv(name_); }

 private:
  const char* name_;
};

std::unique_ptr<CudaDevice> open_gpu() {
  auto opened = CudaDevice::open(test::kFakeDrivers, 0);
  REQUIRE_MESSAGE(opened.is_ok(), opened.status().message());
  return std::move(opened.value());
}

std::string why_not(const Drivers& drivers, std::uint32_t index) {
  MemoryBudget budget(1 << 20);
  return open_device(drivers, {DeviceKind::cuda, index}, budget).status().message();
}

TEST_CASE("a machine without a driver, with an old one or without a GPU is told as such, and what to do") {
  const Drivers none = {[](const char*) -> void* { return nullptr; }, nullptr};
  CHECK(why_not(none, 0) == "this machine has no CUDA driver: there is no libcuda.so.1; install NVIDIA's driver");
  static char library;
  const Drivers old = {[](const char*) -> void* { return &library; },
                       [](void*, const char*) -> void* { return nullptr; }};
  CHECK(why_not(old, 0).find("this machine's CUDA driver is older than CUDA 11: it has no cu") == 0);
  {
    const Setting version("FERRY_FAKE_CUDA_VERSION", "10020");
    CHECK(why_not(test::kFakeDrivers, 0) ==
          "this machine's CUDA driver supports CUDA 10.2, expected 11.0 or later; update NVIDIA's driver");
  }
  const Setting devices("FERRY_FAKE_CUDA_DEVICES", "0");
  CHECK(why_not(test::kFakeDrivers, 0) ==
        "this machine has a CUDA driver but no GPU that this program may use; see what nvidia-smi lists, and "
        "CUDA_VISIBLE_DEVICES");
}

TEST_CASE("of several GPUs each has its number, and the one past the last is refused") {
  const Setting devices("FERRY_FAKE_CUDA_DEVICES", "2");
  MemoryBudget budget(1 << 20);
  for (const std::uint32_t index : {0U, 1U}) {
    auto device = open_device(test::kFakeDrivers, {DeviceKind::cuda, index}, budget);
    REQUIRE_MESSAGE(device.is_ok(), device.status().message());
    CHECK(device.value()->describe().name == (index == 1 ? "Fake GPU 1 (sm_90)" : "Fake GPU 0 (sm_90)"));
  }
  CHECK(why_not(test::kFakeDrivers, 2) == "there is no device cuda:2; this machine has 2, from cuda:0 on");
}

TEST_CASE("a probe lists GPUs with their architecture and memory, or says why there is none") {
  const Setting devices("FERRY_FAKE_CUDA_DEVICES", "2");
  std::vector<std::string> names;
  for (const auto& [device, why_none] : probe_devices(test::kFakeDrivers)) {
    if (device.kind == "cuda") names.push_back(device.name + why_none);
    if (device.kind == "cuda") CHECK(device.memory_bytes == 1 << 30);
    if (device.kind == "cuda") CHECK(device.arch == "sm_90");
    if (device.kind == "opencl") CHECK(why_none.find("there is no libOpenCL.so.1") != std::string::npos);
  }
  CHECK(names == std::vector<std::string>{"Fake GPU 0 (sm_90)", "Fake GPU 1 (sm_90)"});
}

TEST_CASE("a GPU that is out of memory says how much is left, and goes on") {
  const auto device = open_gpu();
  const auto held = device->allocate(1 << 20);
  REQUIRE(held.is_ok());
  CHECK(device->allocate(std::uint64_t{2} << 30).status().message() ==
        "expected at most 1072693248 bytes, got 2147483648: 1048576 of the memory of this GPU of 1073741824 are in use "
        "(free tensors, or take smaller ones)");
  {
    // Another process uses the rest of the memory.
    const Setting memory("FERRY_FAKE_CUDA_MEMORY", "2000000");
    const auto refused = device->allocate(1'000'000);
    CHECK(refused.status().code() == ErrorCode::resource_exhausted);
    CHECK(
        refused.status().message() ==
        "the GPU is out of memory: expected at most 951424 bytes, got 1000000; this session holds 1048576 of 2000000: "
        "free tensors, take smaller ones, or see in nvidia-smi who else uses the GPU");
  }
  const auto more = device->allocate(1'000'000);
  CHECK(more.is_ok());
  device->release(more.value(), 1'000'000);
  device->release(held.value(), 1 << 20);
  CHECK(device->memory().used() == 0);
}

std::string load_failure(CudaDevice& device, const std::string& kind, const std::string& text) {
  return device.load(test::cuda_module({{kind, text}}), {}).status().message();
}

TEST_CASE("code that the driver does not take is refused with the reason and the way out") {
  const auto device = open_gpu();
  CHECK(load_failure(*device, "ptx-sm_80", ".version 99.0\n.target sm_80") ==
        "this machine's CUDA driver supports CUDA 12.4, which is older than the module's PTX (version 99.0): update "
        "NVIDIA's driver, or compile to machine code with --target 'cuda -arch=sm_90'");
  CHECK(load_failure(*device, "cubin-sm_90", "newer") ==
        "this machine's CUDA driver does not take the module's cubin-sm_90: CUDA_ERROR_NO_BINARY_FOR_GPU (209); it "
        "supports CUDA 12.4: update NVIDIA's driver, or compile with a CUDA that is not newer");
  CHECK(load_failure(*device, "ptx", ".version 7.0\n.target sm_80\ngarbage") ==
        "the driver's assembler refuses the module's PTX:\n"
        "ptxas application ptx input, line 3; error: Unknown symbol 'garbage'");
}

struct Prepared {
  std::unique_ptr<ModuleFile> module;
  std::unique_ptr<Program> program;
  std::vector<Device*> devices;
  std::unique_ptr<Workload> call;
  Status status;
};

// Prepares f's plan, or another one, over 100 elements in the device's memory.
Prepared prepare(CudaDevice& device, void* memory, ModuleFile module = test::cuda_module()) {
  Prepared prepared;
  prepared.module = std::make_unique<ModuleFile>(std::move(module));
  auto program = device.load(*prepared.module, {});
  REQUIRE_MESSAGE(program.is_ok(), program.status().message());
  prepared.program = std::move(program.value());
  BoundCall bound;
  bound.symbols = {100};
  bound.tensor_bytes = {400, 0, 400};
  const std::vector<DeviceArgument> arguments = {
      {false, memory, 0}, {true, nullptr, 0}, {false, static_cast<char*>(memory) + 512, 0}};
  prepared.devices = {&device};
  auto call =
      PlanCall::prepare(prepared.devices, *prepared.program, prepared.module->manifest.functions[0], arguments, bound);
  prepared.status = call.status();
  if (call.is_ok()) prepared.call = std::move(call.value());
  return prepared;
}

Status refusal(CudaDevice& device, void* memory, const std::function<void(ModuleFile&, LaunchStep&)>& change) {
  ModuleFile module = test::cuda_module();
  change(module, test::launch_of(module, 0));
  return prepare(device, memory, std::move(module)).status;
}

TEST_CASE("limits that are known only with the kernel at hand are checked before a launch") {
  const auto device = open_gpu();
  void* memory = device->allocate(1024).value();
  CHECK(refusal(*device, memory,
                [](ModuleFile& m, LaunchStep& launch) {
                  launch.kernel = "heavy";
                  launch.block[0] = test::constant_value(m, 512);
                })
            .message() ==
        "f: kernel 'heavy': 512 threads a block; with its 168 registers a thread, this GPU takes at most 384: schedule "
        "it "
        "with smaller blocks");
  CHECK(
      refusal(*device, memory,
              [](ModuleFile& m, LaunchStep& launch) {
                launch.kernel = "heavy";
                launch.shared_bytes = test::constant_value(m, 200'000);
              })
          .message() ==
      "f: kernel 'heavy': 240000 bytes of shared memory a block; this GPU has 232448: schedule it with smaller tiles");
  CHECK(refusal(*device, memory,
                [](ModuleFile& m, LaunchStep& launch) { launch.grid[1] = test::constant_value(m, 65536); })
            .message() ==
        "f: kernel 'twice': a grid of 65536 blocks along y; this GPU takes at most 65535 there: use larger blocks, or "
        "bind the loop to blockIdx.x");
  CHECK(refusal(*device, memory, [](ModuleFile& m, LaunchStep& launch) {
          launch.block[2] = test::constant_value(m, 65);
        }).message() == "f: kernel 'twice': a block of 65 threads along z; this GPU takes at most 64 there");
  CHECK(refusal(*device, memory, [](ModuleFile&, LaunchStep& launch) { launch.kernel = "thrice"; }).message() ==
        "f: its plan launches the kernel 'thrice', which the module's code does not have");
  // A launch that needs more shared memory than the default requests it.
  const auto large = [](ModuleFile& m, LaunchStep& launch) {
    launch.kernel = "heavy";
    launch.shared_bytes = test::constant_value(m, 150'000);
  };
  ModuleFile module = test::cuda_module();
  large(module, test::launch_of(module, 0));
  const Prepared prepared = prepare(*device, memory, std::move(module));
  REQUIRE_MESSAGE(prepared.status.is_ok(), prepared.status.message());
  CHECK(prepared.call->run() == 0);
  device->release(memory, 1024);
}

TEST_CASE("a kernel that reads outside of memory is named among its plan's, and the device is then of no use") {
  const char* const kOutside = "CUDA_ERROR_ILLEGAL_ADDRESS (700): it read or wrote outside of any memory";
  const char* const kMisaligned =
      "CUDA_ERROR_MISALIGNED_ADDRESS (716): it copied several elements at once at an address that is no multiple of "
      "their size: vectorize fewer, or where the index is a multiple of their number";
  for (const auto& [crashing, code, what] :
       {std::tuple{"twice", "700", kOutside}, {"reversed", "700", kOutside}, {"reversed", "716", kMisaligned}}) {
    // Run in a separate process, because the driver stays broken in this one.
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const Setting crash("FERRY_FAKE_CUDA_CRASH", crashing), error("FERRY_FAKE_CUDA_ERROR", code);
      const auto device = open_gpu();
      const Prepared prepared = prepare(*device, device->allocate(1024).value());
      const bool failed = prepared.call->run() != 0;
      const Status status = prepared.call->failure();
      const bool right = failed && status.code() == ErrorCode::kernel_crashed &&
                         status.message() == "f: kernel '" + std::string(crashing) + "' ended the session with " + what;
      if (!right) std::fprintf(stderr, "got %s\n", status.message().c_str());
      std::int64_t elapsed = 0;
      const bool stays = prepared.call->sample(1, elapsed) != 0 && !device->allocate(64).is_ok();
      _exit(right && stays ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
}

TEST_CASE("a GPU tells of itself what measurements note down") {
  const auto device = open_gpu();
  CHECK(device->watched_text("architecture") == "sm_90");
  CHECK(device->watched_text("driver") == "12.4");
  CHECK(device->watched_text("multiprocessors") == "7");
  CHECK(device->watched_text("sm_clock_mhz") == "1755");
  CHECK(device->watched_text("memory_clock_mhz") == "2619");
  CHECK(device->watched_text("max_sm_clock_mhz") == "1980");
  CHECK(device->watched_text("temperature_c") == "41");
  CHECK(device->watched_text("power_mw") == "123456");
  CHECK(device->watched_text("throttle_reasons") == "4");
  CHECK(device->watched_text("energy_mj").empty());
  CHECK(device->watched_text("anything").empty());
  // The management library knows only the first GPU.
  const Setting devices("FERRY_FAKE_CUDA_DEVICES", "2");
  auto second = CudaDevice::open(test::kFakeDrivers, 1);
  REQUIRE(second.is_ok());
  CHECK(second.value()->watched_text("temperature_c").empty());
  CHECK(second.value()->watched_text("architecture") == "sm_90");
}

}  // namespace
}  // namespace ferry::device
