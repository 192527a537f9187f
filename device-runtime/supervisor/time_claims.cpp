#include "device-runtime/supervisor/time_claims.h"

#include <algorithm>
#include <utility>

namespace ferry::device {
namespace {

// Time that an honest session spends between two samples, on a slow board: its threads have counters of their own.
constexpr std::int64_t kBetweenSamplesNs = 300'000, kCountersOfThreadNs = 100'000;
constexpr std::uint64_t kMaxSamples = 1'000'000;
// For what interrupts a session between reading its clock and telling.
constexpr std::int64_t kInterruptionNs = 50'000'000;

}  // namespace

TimeClaims::TimeClaims(std::uint32_t threads) : between_ns_(kBetweenSamplesNs + threads * kCountersOfThreadNs) {}

Status TimeClaims::check(const SeenActivity& seen, std::int64_t before, std::int64_t after, std::int64_t processor_ns) {
  if (!seen.measured) return {};
  const MeasuredTime& measured = *seen.measured;
  const std::int64_t looked = std::exchange(looked_, before);
  // Only if a sample has just ended is it known, without the session's clock, that it ended after the last check.
  if (std::exchange(samples_, measured.samples) == measured.samples) return {};
  if (begin_.evaluation != measured.evaluation) {
    begin_ = {measured.evaluation, measured.samples, measured.total_ns, after, processor_ns, looked};
    return {};
  }
  const std::int64_t claimed = measured.total_ns - begin_.measured_ns, passed = before - begin_.after;
  const std::int64_t busy = std::min(passed, processor_ns - begin_.processor_ns);
  const bool in_time = measured.ended_ns >= looked - kInterruptionNs;
  const std::int64_t unfinished = std::clamp<std::int64_t>(after - measured.ended_ns, 0, after - looked);
  const auto samples = static_cast<std::int64_t>(std::min(measured.samples - begin_.samples, kMaxSamples));
  const std::int64_t explained = claimed + unfinished + samples * between_ns_ + kInterruptionNs;
  // The first of these samples may have begun before.
  const std::int64_t possible = after - begin_.looked + kInterruptionNs;
  if (in_time && claimed >= 0 && claimed <= possible && busy <= explained + explained / 2) return {};
  return {ErrorCode::kernel_crashed,
          "a kernel has changed the clock of its session, or what that says of it: the measured times contradict the "
          "server's clock"};
}

}  // namespace ferry::device
