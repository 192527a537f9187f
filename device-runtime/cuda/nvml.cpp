#include "device-runtime/cuda/nvml.h"

#include <utility>

#include "base/format.h"

namespace ferry::device {
namespace {

constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";
constexpr int kSuccess = 0;
// nvmlClockType_t and nvmlTemperatureSensors_t
constexpr int kSmClock = 1, kMemoryClock = 2, kGpuTemperature = 0;

template <class Function>
void find(const Drivers& drivers, void* library, const char* name, Function& into) {
  into = reinterpret_cast<Function>(drivers.symbol(library, name));
}

}  // namespace

Nvml::Nvml(const Drivers& drivers, const char* bus_id) {
  void* library = drivers.open(kNvmlLibrary);
  if (library == nullptr) return;
  int (*init)() = nullptr;
  int (*find_device)(const char*, Handle*) = nullptr;
  find(drivers, library, "nvmlInit_v2", init);
  find(drivers, library, "nvmlDeviceGetHandleByPciBusId_v2", find_device);
  find(drivers, library, "nvmlShutdown", shutdown_);
  find(drivers, library, "nvmlDeviceGetClockInfo", clock_);
  find(drivers, library, "nvmlDeviceGetMaxClockInfo", max_clock_);
  find(drivers, library, "nvmlDeviceGetTemperature", temperature_);
  find(drivers, library, "nvmlDeviceGetPowerUsage", power_);
  find(drivers, library, "nvmlDeviceGetTotalEnergyConsumption", energy_);
  find(drivers, library, "nvmlDeviceGetCurrentClocksThrottleReasons", throttle_);
  if (init == nullptr || find_device == nullptr || shutdown_ == nullptr || init() != kSuccess) return;
  if (find_device(bus_id, &device_) == kSuccess) return;
  device_ = nullptr;
  shutdown_();
}

Nvml::Nvml(Nvml&& other) noexcept { *this = std::move(other); }

Nvml& Nvml::operator=(Nvml&& other) noexcept {
  std::swap(shutdown_, other.shutdown_);
  std::swap(clock_, other.clock_);
  std::swap(max_clock_, other.max_clock_);
  std::swap(temperature_, other.temperature_);
  std::swap(power_, other.power_);
  std::swap(energy_, other.energy_);
  std::swap(throttle_, other.throttle_);
  std::swap(device_, other.device_);
  return *this;
}

Nvml::~Nvml() {
  if (device_ != nullptr) shutdown_();
}

std::string Nvml::text(const std::string& name) const {
  if (device_ == nullptr) return {};
  const auto number = [&](auto function, auto... arguments) -> std::string {
    unsigned value = 0;
    if (function == nullptr || function(device_, arguments..., &value) != kSuccess) return {};
    return format("%u", value);
  };
  const auto long_number = [&](auto function) -> std::string {
    unsigned long long value = 0;
    if (function == nullptr || function(device_, &value) != kSuccess) return {};
    return format("%llu", value);
  };
  if (name == "sm_clock_mhz") return number(clock_, kSmClock);
  if (name == "memory_clock_mhz") return number(clock_, kMemoryClock);
  if (name == "max_sm_clock_mhz") return number(max_clock_, kSmClock);
  if (name == "max_memory_clock_mhz") return number(max_clock_, kMemoryClock);
  if (name == "temperature_c") return number(temperature_, kGpuTemperature);
  if (name == "power_mw") return number(power_);
  if (name == "energy_mj") return long_number(energy_);
  if (name == "throttle_reasons") return long_number(throttle_);
  return {};
}

}  // namespace ferry::device
