#include "ferry/bench/connection.h"

#include <algorithm>
#include <chrono>

#include "ferry/error.h"

namespace ferry::bench {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Bandwidth measure_transfer(const Device& device, std::uint64_t bytes) {
  std::vector<std::uint8_t> content(bytes, 1);
  DeviceTensor tensor = device.empty(DType::u8, {static_cast<std::int64_t>(bytes)});
  device.synchronize();
  auto start = Clock::now();
  tensor.write(content.data());
  device.synchronize();
  Bandwidth result{bytes, seconds_since(start), 0};
  start = Clock::now();
  tensor.read(content.data());
  result.read_seconds = seconds_since(start);
  return result;
}

}  // namespace

std::vector<double> measure_null_calls(const Device& device, std::uint32_t count) {
  if (count == 0) throw UsageError("expected at least 1 null call, got 0");
  for (int warm = 0; warm < 10; ++warm) device.synchronize();
  std::vector<double> seconds;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto start = Clock::now();
    device.synchronize();
    seconds.push_back(seconds_since(start));
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

Bandwidth measure_bandwidth(const Device& device, std::uint64_t bytes, const Observer& observer) {
  const StepGuard step = observer.begin("measuring bandwidth");
  if (bytes != 0) return measure_transfer(device, bytes);
  constexpr double kLongEnough = 0.05;
  constexpr std::uint64_t kLargest = 64u << 20;
  for (bytes = 64 << 10;; bytes *= 4) {
    const Bandwidth result = measure_transfer(device, bytes);
    if (result.write_seconds + result.read_seconds > kLongEnough || bytes * 4 > kLargest) return result;
  }
}

}  // namespace ferry::bench
