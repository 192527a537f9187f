#include "device-runtime/device/stream.h"

namespace ferry::device {

Outcome Stream::run_all(std::size_t steps, std::uint64_t times, bool traced) {
  for (; times > 0; --times) {
    for (std::size_t step = 0; step < steps; ++step) {
      if (const std::int32_t result = run(step, traced); result != 0) return {result, step};
    }
  }
  return {};
}

std::int32_t Stream::start_timing(std::size_t slot) {
  if (slot >= elapsed_ns_.size()) elapsed_ns_.resize(slot + 1);
  elapsed_ns_[slot] = now_ns();
  return 0;
}

std::int32_t Stream::end_timing(std::size_t slot) {
  const std::int64_t elapsed_ns = now_ns() - elapsed_ns_[slot] - clock_overhead_ns();
  // 0 if it is negative, without a branch: samples execute the same number of instructions around the calls.
  elapsed_ns_[slot] = elapsed_ns & ~(elapsed_ns >> 63);
  return 0;
}

std::int32_t Stream::elapsed(std::size_t slot, std::int64_t& elapsed_ns) const {
  elapsed_ns = elapsed_ns_[slot];
  return 0;
}

}  // namespace ferry::device
