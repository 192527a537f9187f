#include "farm/checkup/reference_times.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <vector>

#include "base/format.h"
#include "base/printable.h"
#include "farm/checkup/judge_state.h"
#include "host/stats/summary.h"

namespace ferry::farm {
namespace {

constexpr int kThermalZones = 10;
// Sensors that are absent report numbers far outside.
constexpr std::int32_t kColdest = -50'000, kHottest = 200'000;

// printable() makes up to four bytes of one, and the firmware has three lines.
constexpr std::size_t kMaxLine = kMaxEnvironmentText / 16;

// A line of a file or a fact of the board, as far as it fits.
std::string limited_line(const std::string& text) {
  return printable(std::string_view(text).substr(0, std::min(text.find('\n'), kMaxLine)));
}

std::optional<std::int32_t> hottest(const std::vector<std::string>& texts) {
  std::optional<std::int32_t> found;
  for (const std::string& text : texts) {
    std::int32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && value > kColdest && value < kHottest) found = std::max(found.value_or(value), value);
  }
  return found;
}

void read_environment(const Device& device, SessionTimes& session) {
  std::vector<std::string> paths = {"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                                    "/sys/class/dmi/id/bios_version"};
  const std::size_t first_zone = paths.size();
  for (int zone = 0; zone < kThermalZones; ++zone)
    paths.push_back(format("/sys/class/thermal/thermal_zone%d/temp", zone));
  std::vector<std::string> texts = device.read_files(paths);
  if (texts.size() != paths.size()) throw Error(ErrorCode::protocol_error, "expected the contents of all files");
  session.environment.governor = limited_line(texts[0]);
  session.environment.firmware = limited_line(device.facts().operating_system) + ", " + limited_line(texts[1]) +
                                 ", ferry " + limited_line(device.facts().server_version);
  texts.erase(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(first_zone));
  session.millidegrees = hottest(texts);
}

// Identifies what the times are of: the code, the sizes, and where round trips start.
std::string kernel_id(const CompiledModule& module, const ReferenceSizes& sizes, const std::string& place) {
  const std::string text = to_hex(module.hash()) +
                           format(" %lld %llu %lld ", static_cast<long long>(sizes.compute),
                                  static_cast<unsigned long long>(sizes.memory), static_cast<long long>(sizes.ping)) +
                           place;
  return to_hex(blake2b({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}));
}

void expect_all(HealthMetric job, const DeviceTensor& tensor, float expected) {
  const std::vector<float> values = tensor.to_vector<float>();
  const auto wrong = std::ranges::find_if(values, [&](float value) { return value != expected; });
  if (wrong == values.end()) return;
  throw JobFailed(job, format("%s gives wrong results: expected %g at element %td, got %g", health_metric_name(job),
                              static_cast<double>(expected), wrong - values.begin(), static_cast<double>(*wrong)));
}

BenchOptions options_of(const ReferenceEffort& effort) {
  BenchOptions options;
  options.number = 0;
  options.repeat = effort.samples;
  options.min_repeat_ms = options.warmup_ms = effort.sample_ms;
  options.timeout_ms = effort.job_limit_ms;
  return options;
}

double compute_seconds(const Device& device, const Module& module, const ReferenceSizes& sizes,
                       const ReferenceEffort& effort) {
  const Shape shape{sizes.compute, sizes.compute};
  const DeviceTensor a = device.filled(DType::f32, shape, FillKind::ones),
                     b = device.filled(DType::f32, shape, FillKind::ones);
  const DeviceTensor c = device.filled(DType::f32, shape, FillKind::zeros);
  const Timing timing = module["compute"].measure({a, b, c}, options_of(effort));
  expect_all(HealthMetric::compute, c, static_cast<float>(sizes.compute));
  return timing.median();
}

double memory_seconds(const Device& device, const Module& module, const ReferenceSizes& sizes,
                      const ReferenceEffort& effort) {
  const auto elements = static_cast<std::int64_t>(sizes.memory / sizeof(float));
  const DeviceTensor a = device.filled(DType::f32, {elements}, FillKind::ones);
  const DeviceTensor b = device.filled(DType::f32, {elements}, FillKind::zeros);
  const Timing timing = module["memory"].measure({a, b}, options_of(effort));
  // The beginning and the end: sending all of it would take long.
  const std::int64_t part = std::min<std::int64_t>(elements, 1024);
  const std::int64_t last = (elements - part) / 16 * 16;
  for (const std::int64_t first : {std::int64_t{0}, last})
    expect_all(HealthMetric::memory, b.view({part}, {}, static_cast<std::uint64_t>(first)), 2);
  return timing.median();
}

// From here to the board and back.
double ping_seconds(const Device& device, const Module& module, const ReferenceSizes& sizes,
                    const ReferenceEffort& effort) {
  const Function ping = module["ping"];
  const DeviceTensor a = device.filled(DType::f32, {sizes.ping}, FillKind::ones);
  const DeviceTensor b = device.filled(DType::f32, {sizes.ping}, FillKind::zeros);
  ping.call({a, b});
  std::vector<double> seconds;
  const auto limit = std::chrono::duration<double, std::milli>(effort.job_limit_ms);
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint32_t i = 0; i < effort.pings; ++i) {
    const auto start = std::chrono::steady_clock::now();
    if (i > 0 && start - begin > limit) break;
    ping.call({a, b});
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  expect_all(HealthMetric::ping, b, 1);
  return stats::median(seconds);
}

}  // namespace

SessionTimes take_reference_times(const Device& device, const CompiledModule& compiled, const ReferenceSizes& sizes,
                                  const ReferenceEffort& effort, const std::string& place, HealthMetric& running) {
  SessionTimes session;
  running = HealthMetric::ping;
  read_environment(device, session);
  session.environment.kernel = kernel_id(compiled, sizes, place);
  const Module module = device.load(compiled);
  using Job = double (*)(const Device&, const Module&, const ReferenceSizes&, const ReferenceEffort&);
  constexpr Job kJobs[kHealthMetrics] = {compute_seconds, memory_seconds, ping_seconds};
  for (std::size_t m = 0; m < kHealthMetrics; ++m) {
    running = static_cast<HealthMetric>(m);
    session.times[m] = kJobs[m](device, module, sizes, effort);
  }
  return session;
}

}  // namespace ferry::farm
