// How sums of products of 8-bit integers are computed: by which instructions, and on which types of integers.
#pragma once

#include <cstdint>

namespace ferry::ops {

enum class IntegerFactors : std::uint8_t {
  bytes,    // X as it is; what the zero point adds to the sums is subtracted afterwards
  flipped,  // the same with X moved by 128 into the other type of bytes: uint8 from int8, or int8 from uint8
  int16,    // X minus its zero point, and weights, widened to int16
};

// All choices have the same results.
struct IntegerProducts {
  IntegerFactors factors = IntegerFactors::bytes;
  // Channels that stand one behind the other in memory, whose products an instruction adds at once (`tensorize` in
  // docs/schedules.md): 4 or 2 bytes, or 2 int16, where the target has one, otherwise 1.
  std::int64_t group = 1;
  // Whether no weight is -128, so that two products with weights can be added up in int16.
  bool weights_above_minimum = false;
  // Products with matrices: sums are padded with zeros to a multiple of so many elements, as AMX's tiles have.
  std::int64_t step = 1;
  bool operator==(const IntegerProducts&) const = default;
};

}  // namespace ferry::ops
