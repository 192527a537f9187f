// Tests of times that memory does not allow.
#include "host/measure/memory_floor.h"

#include <doctest/doctest.h>

#include "module/manifest.h"

using namespace ferry;

namespace {

FunctionInfo function_of(std::initializer_list<Direction> directions) {
  FunctionInfo info;
  for (const Direction direction : directions) {
    ParameterInfo& parameter = info.parameters.emplace_back();
    parameter.direction = direction;
    parameter.dtype = DType::f32;
  }
  return info;
}

DeviceFacts with_cache(std::uint64_t bytes) {
  DeviceFacts facts;
  if (bytes > 0) facts.caches = {{1, "data", 32 << 10, 64}, {3, "unified", bytes, 64}};
  return facts;
}

Timing of(double seconds, std::size_t samples = 20) {
  Timing timing;
  timing.seconds = std::vector<double>(samples, seconds);
  return timing;
}

}  // namespace

TEST_CASE("outputs count where they are larger than any cache") {
  const FunctionInfo info = function_of({Direction::in, Direction::out, Direction::inout});
  const std::vector<Shape> shapes = {{1000, 1000}, {1024, 1024}, {1024, 1024}};
  CHECK(bench::moved_bytes(info, shapes, with_cache(1 << 20)) == 8 << 20);
  CHECK(bench::moved_bytes(info, shapes, with_cache(2 << 20)) == 0);
  CHECK(bench::moved_bytes(info, shapes, with_cache(0)) == 0);
  CHECK(bench::moved_bytes(info, shapes, with_cache(1 << 20), {true, false, false}) == (8 << 20) + 4'000'000);
  CHECK(bench::moved_bytes(info, {{0}, {0}, {0}}, with_cache(1 << 20)) == 0);
}

TEST_CASE("a time is impossible only if its whole interval is far below what memory takes") {
  // A copy of 10 GB/s: at most 15 GB/s for a kernel that only writes, 100 ms for 1.5 GB.
  const std::uint64_t bytes = 1'500'000'000;
  CHECK(bench::too_fast(of(0.1), bytes, 10e9) == "");
  CHECK(bench::too_fast(of(0.071), bytes, 10e9) == "");
  CHECK(bench::too_fast(of(0.069), bytes, 10e9) ==
        "69.0 ms for 1.40 GiB of tensors, for which memory takes at least 100 ms");
  CHECK(bench::too_fast(of(1e-6, 5), bytes, 10e9) == "");  // no interval
  CHECK(bench::too_fast(of(1e-6), 0, 10e9) == "");
  CHECK(bench::too_fast(of(1e-6), bytes, 0) == "");
}
