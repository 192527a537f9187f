// Measurements for tests of what is shown of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ferry/bench/measurement.h"

namespace ferry::test {

// A measurement of `add` whose median is `seconds`, and whose interval is a few percent wide.
inline bench::Measurement result(const std::string& device, std::vector<std::pair<std::string, std::int64_t>> sizes,
                                 double seconds) {
  bench::Measurement one;
  one.function.name = "add";
  one.function.signature = "add(in f32[N] A, out f32[N] B)";
  one.function.sizes = std::move(sizes);
  one.device = device;
  one.processor = "cortex-a72";
  one.target = "raspberry-pi-4";
  for (int i = -10; i <= 10; ++i) one.timing.seconds.push_back(seconds * (1 + 0.002 * ((i * 7) % 11)));
  one.timing.threads = 1;
  one.flops = 1e4;
  one.bytes = 8e4;
  return one;
}

}  // namespace ferry::test
