#include "device-runtime/measure/clock.h"

#include <time.h>

#include <algorithm>

namespace ferry::device {

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

const ClockFacts& clock_facts() {
  static const ClockFacts facts = [] {
    ClockFacts least{1'000'000, 1'000'000'000};
    for (int i = 0; i < 200; ++i) {
      const std::int64_t begin = now_ns();
      const std::int64_t apart = now_ns() - begin;
      least.overhead_ns = std::min(least.overhead_ns, apart);
      // A coarse clock returns the same value for many readings and then steps.
      std::int64_t step = apart;
      for (int reading = 0; step == 0 && reading < 100'000; ++reading) step = now_ns() - begin;
      if (step > 0) least.resolution_ns = std::min(least.resolution_ns, step);
    }
    least.overhead_ns = std::max<std::int64_t>(least.overhead_ns, 0);
    return least;
  }();
  return facts;
}

}  // namespace ferry::device
