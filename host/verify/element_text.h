// Text for elements of tensors in messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ferry/types.h"
#include "host/lang/reference/reference.h"

namespace ferry::verify {

double value_of(DType dtype, const lang::Element& element);

// Whether one is 0 and the other -0.
bool are_opposite_zeros(double x, double y);

// Returns "0.7", "-3": the fewest digits that distinguish the number from all others of its type.
std::string element_text(DType dtype, const lang::Element& element);

// Returns "C[3,4]" for an element at a row-major position.
std::string position_text(const std::string& name, const std::vector<std::int64_t>& shape, std::uint64_t position);

}  // namespace ferry::verify
