// Clocks, temperature and throttling of a GPU, as reported by NVIDIA's management library (NVML API reference). The
// library comes with the driver, but a container may lack it.
#pragma once

#include <string>

#include "device-runtime/device/drivers.h"

namespace ferry::device {

class Nvml {
 public:
  Nvml() = default;
  // `bus_id` is in CUDA's format: "0000:65:00.0".
  Nvml(const Drivers& drivers, const char* bus_id);
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  Nvml(Nvml&& other) noexcept;
  Nvml& operator=(Nvml&& other) noexcept;
  ~Nvml();

  // Returns the value of sm_clock_mhz, memory_clock_mhz, max_sm_clock_mhz, max_memory_clock_mhz, temperature_c,
  // power_mw, energy_mj or throttle_reasons, a sum of NVML's nvmlClocksThrottleReasons; empty if NVML does not report
  // it.
  std::string text(const std::string& name) const;

 private:
  using Handle = struct NvmlDevice*;
  int (*shutdown_)() = nullptr;
  int (*clock_)(Handle, int, unsigned*) = nullptr;
  int (*max_clock_)(Handle, int, unsigned*) = nullptr;
  int (*temperature_)(Handle, int, unsigned*) = nullptr;
  int (*power_)(Handle, unsigned*) = nullptr;
  int (*energy_)(Handle, unsigned long long*) = nullptr;
  int (*throttle_)(Handle, unsigned long long*) = nullptr;
  Handle device_ = nullptr;  // null: the library is missing or does not know the device
};

}  // namespace ferry::device
