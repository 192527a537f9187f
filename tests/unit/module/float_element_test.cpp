#include "module/float_element.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace ferry;

TEST_CASE("elements of floats are stored rounded once and loaded exactly") {
  std::uint8_t bytes[8];
  const auto stored = [&](DType dtype, double value) {
    store_float(dtype, value, bytes);
    return load_float(dtype, bytes);
  };
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    CAPTURE(dtype_name(dtype));
    CHECK(stored(dtype, -1.5) == -1.5);
    CHECK(std::isinf(stored(dtype, INFINITY)));
    CHECK(std::isnan(stored(dtype, NAN)));
  }
  // A tie in f16, and just above it: rounding to float32 first would lose the difference.
  CHECK(stored(DType::f16, 1 + 0x1p-11) == 1);
  CHECK(stored(DType::f16, 1 + 0x1p-11 + 0x1p-40) == 1 + 0x1p-10);
  CHECK(stored(DType::bf16, 1 + 0x1p-8 + 0x1p-40) == 1 + 0x1p-7);
  CHECK(stored(DType::f32, 0.1) == static_cast<double>(0.1f));
  CHECK(stored(DType::f64, 0.1) == 0.1);
}
