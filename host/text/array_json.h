// Tensors as numbers in JSON.
#pragma once

#include <cstdint>
#include <span>

#include "ferry/types.h"
#include "host/text/json.h"

namespace ferry::text {

// Returns nested lists, or one value for a tensor without dimensions. A float has the fewest digits that reproduce it
// in its type; "nan", "inf" and "-inf" are strings, since JSON has no such numbers. Integers are exact, bool is true or
// false.
Json array_json(DType dtype, std::span<const std::int64_t> shape, const void* data);

}  // namespace ferry::text
