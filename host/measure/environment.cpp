#include "ferry/bench/environment.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace ferry::bench {

namespace {

constexpr int kZones = 16, kCoolers = 16, kSensors = 10, kPackages = 4;
const std::string kCore = "/sys/devices/system/cpu/cpu{core}/";
constexpr const char* kFirmware = "/sys/devices/platform/soc/soc:firmware/get_throttled";
constexpr const char* kMailbox = "/dev/vcio";

std::string numbered(const char* before, int number, const char* after) {
  return before + std::to_string(number) + after;
}
std::string zone(int i) { return numbered("/sys/class/thermal/thermal_zone", i, "/temp"); }
std::string cooler(int i, const char* file) { return numbered("/sys/class/thermal/cooling_device", i, file); }
std::string package_energy(int i) { return numbered("/sys/class/powercap/intel-rapl:", i, "/energy_uj"); }
std::string package_range(int i) { return numbered("/sys/class/powercap/intel-rapl:", i, "/max_energy_range_uj"); }
std::string sensor(int i, const char* file) { return numbered("/sys/class/hwmon/hwmon", i, file); }

// The files before or after the measurement.
class Texts {
 public:
  Texts(const Timing& timing, bool after) : timing_(timing), after_(after) {}

  std::string text(const std::string& path) const {
    for (const WatchedText& file : timing_.watched) {
      if (file.path == path) return after_ ? file.after : file.before;
    }
    return {};
  }
  std::optional<double> number(const std::string& path, double scale = 1, int base = 10) const {
    return parsed(text(path), scale, base);
  }
  static std::optional<double> parsed(const std::string& content, double scale = 1, int base = 10) {
    char* end = nullptr;
    const double value =
        base == 10 ? strtod(content.c_str(), &end) : static_cast<double>(strtoull(content.c_str(), &end, base));
    // The texts are the board's: "inf" is a number to strtod().
    if (end == content.c_str() || !std::isfinite(value)) return std::nullopt;
    return value * scale;
  }

 private:
  const Timing& timing_;
  bool after_;
};

std::optional<double> frequency_hz(const Texts& texts) {
  if (const auto kilohertz = texts.number(kCore + "cpufreq/scaling_cur_freq", 1e3)) return kilohertz;
  return texts.number(kCore + "cpufreq/cpuinfo_cur_freq", 1e3);
}

// Returns the temperature of the hottest zone.
std::optional<double> temperature_c(const Texts& texts) {
  std::optional<double> hottest;
  for (int i = 0; i < kZones; ++i) {
    const auto here = texts.number(zone(i), 1e-3);
    if (here && (!hottest || *here > *hottest)) hottest = here;
  }
  return hottest;
}

// x86: number of times that the core and its package were throttled.
std::optional<double> throttle_count(const Texts& texts) {
  const auto core = texts.number(kCore + "thermal_throttle/core_throttle_count");
  const auto package = texts.number(kCore + "thermal_throttle/package_throttle_count");
  if (!core && !package) return std::nullopt;
  return core.value_or(0) + package.value_or(0);
}

// ARM: how far processors are throttled; 0 if they are not.
std::optional<double> cooling_state(const Texts& texts) {
  std::optional<double> sum;
  for (int i = 0; i < kCoolers; ++i) {
    const std::string type = texts.text(cooler(i, "/type"));
    if (type.find("cpu") == std::string::npos && type.find("Processor") == std::string::npos) continue;
    if (const auto state = texts.number(cooler(i, "/cur_state"))) sum = sum.value_or(0) + *state;
  }
  return sum;
}

std::optional<double> pi_throttled(const Texts& texts) {
  if (const auto flags = texts.number(kFirmware, 1, 16)) return flags;
  return texts.number(kMailbox, 1, 16);
}

// Parses the eighth field of the line for all processors, in hundredths of a second.
std::optional<double> steal_s(const Texts& texts) {
  const std::string text = texts.text("/proc/stat");
  if (!text.starts_with("cpu ")) return std::nullopt;
  const char* at = text.c_str() + 4;
  double ticks = 0;
  for (int field = 0; field < 8; ++field) {
    char* end = nullptr;
    ticks = strtod(at, &end);
    if (end == at || !std::isfinite(ticks)) return std::nullopt;
    at = end;
  }
  return ticks / 100;
}

// Returns the energy of all packages, or of a sensor of the board that accumulates it.
std::optional<double> energy_j(const Texts& texts) {
  std::optional<double> sum;
  for (int i = 0; i < kPackages; ++i) {
    if (const auto package = texts.number(package_energy(i), 1e-6)) sum = sum.value_or(0) + *package;
  }
  for (int i = 0; i < kSensors && !sum; ++i) sum = texts.number(sensor(i, "/energy1_input"), 1e-6);
  return sum;
}

std::optional<double> power_w(const Texts& texts) {
  std::optional<double> watts;
  for (int i = 0; i < kSensors && !watts; ++i) watts = texts.number(sensor(i, "/power1_input"), 1e-6);
  return watts;
}

std::string governor(const Texts& texts) {
  std::string text = texts.text(kCore + "cpufreq/scaling_governor");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// Properties of the GPU that ran the kernel, from NVIDIA's management library (rpc/PROTOCOL.md, evaluate).
constexpr char kGpuClock[] = "gpu:sm_clock_mhz", kGpuMemoryClock[] = "gpu:memory_clock_mhz",
               kGpuTemperature[] = "gpu:temperature_c", kGpuPower[] = "gpu:power_mw",
               kGpuThrottle[] = "gpu:throttle_reasons";
constexpr const char* kNoGpu = "no GPU ran it that tells";

template <const char* path, int scale>
std::optional<double> gpu(const Texts& texts) {
  return texts.number(path, scale);
}

struct Source {
  const char* name;
  std::optional<double> (*read)(const Texts&);
  const char* missing;
};

constexpr Source kSources[] = {
    {"frequency_hz", frequency_hz, "the device has no cpufreq"},
    {"temperature_c", temperature_c, "the device has no thermal zone"},
    {"throttle_count", throttle_count, "the device has no thermal_throttle counts"},
    {"cooling_state", cooling_state, "the device has no cooling device for its processors"},
    {"pi_throttled", pi_throttled, "the device has no Raspberry Pi firmware"},
    {"load", [](const Texts& texts) { return texts.number("/proc/loadavg"); }, "the device has no /proc/loadavg"},
    {"steal_s", steal_s, "the device has no /proc/stat"},
    {"energy_j", energy_j, "the device has no RAPL or energy sensor that rpc_server may read"},
    {"power_w", power_w, "the device has no power sensor"},
    {"gpu_clock_hz", gpu<kGpuClock, 1000000>, kNoGpu},
    {"gpu_memory_clock_hz", gpu<kGpuMemoryClock, 1000000>, kNoGpu},
    {"gpu_temperature_c", gpu<kGpuTemperature, 1>, kNoGpu},
    {"gpu_power_w", [](const Texts& texts) { return texts.number(kGpuPower, 1e-3); }, kNoGpu},
    {"gpu_throttle_reasons", gpu<kGpuThrottle, 1>, kNoGpu},
};

std::string reason(std::uint32_t error) {
  switch (error) {
    case 0: return {};
    case EACCES:
    case EPERM: return "the device forbids them (kernel.perf_event_paranoid, or a sandbox)";
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV: return "the device has none (many virtual machines do not)";
    case ENOSYS: return "the device's kernel has no perf_event_open";
    default: return strerror(static_cast<int>(error));
  }
}

}  // namespace

std::vector<std::string> watched_paths() {
  std::vector<std::string> paths = {"/proc/loadavg", "/proc/stat",    kFirmware, kMailbox,    kGpuClock,
                                    kGpuMemoryClock, kGpuTemperature, kGpuPower, kGpuThrottle};
  for (const char* file : {"cpufreq/scaling_cur_freq", "cpufreq/cpuinfo_cur_freq", "cpufreq/scaling_governor",
                           "thermal_throttle/core_throttle_count", "thermal_throttle/package_throttle_count"}) {
    paths.push_back(kCore + file);
  }
  for (int i = 0; i < kZones; ++i) paths.push_back(zone(i));
  for (int i = 0; i < kCoolers; ++i) {
    paths.push_back(cooler(i, "/type"));
    paths.push_back(cooler(i, "/cur_state"));
  }
  for (int i = 0; i < kPackages; ++i) {
    paths.push_back(package_energy(i));
    paths.push_back(package_range(i));
  }
  for (int i = 0; i < kSensors; ++i) {
    paths.push_back(sensor(i, "/energy1_input"));
    paths.push_back(sensor(i, "/power1_input"));
  }
  return paths;
}

Environment read_environment(const Timing& timing) {
  const Texts before(timing, false), after(timing, true);
  Environment result;
  result.governor_before = governor(before);
  result.governor_after = governor(after);
  for (const Source& source : kSources) {
    Quantity quantity{source.name, source.read(before), source.read(after), {}};
    if (!quantity.before || !quantity.after) quantity = {source.name, {}, {}, source.missing};
    // RAPL counters wrap around.
    if (quantity.name == "energy_j" && quantity.before && *quantity.after < *quantity.before) {
      for (int i = 0; i < kPackages; ++i) {
        const auto first = before.number(package_energy(i)), last = after.number(package_energy(i));
        if (first && last && *last < *first) *quantity.after += after.number(package_range(i), 1e-6).value_or(0);
      }
    }
    result.quantities.push_back(std::move(quantity));
  }
  result.counters_missing = reason(timing.counters_errno);
  return result;
}

const Quantity& Environment::at(const std::string& name) const {
  for (const Quantity& quantity : quantities) {
    if (quantity.name == name) return quantity;
  }
  throw std::logic_error("no quantity is called " + name);
}

std::optional<double> Environment::increase(const std::string& name) const {
  const Quantity& quantity = at(name);
  if (!quantity.before) return std::nullopt;
  return *quantity.after - *quantity.before;
}

}  // namespace ferry::bench
