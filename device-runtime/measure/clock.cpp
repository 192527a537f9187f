#include "device-runtime/measure/clock.h"

#include <time.h>

#include <algorithm>

namespace ferry::device {

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::int64_t clock_overhead_ns() {
  static const std::int64_t overhead = [] {
    std::int64_t least = 1'000'000;
    for (int i = 0; i < 200; ++i) {
      const std::int64_t begin = now_ns();
      least = std::min(least, now_ns() - begin);
    }
    return std::max<std::int64_t>(least, 0);
  }();
  return overhead;
}

}  // namespace ferry::device
