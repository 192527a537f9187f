// Elements of generated tensors, as the text writes them.
#pragma once

#include "tests/fuzz/cases/fuzz_case.h"
#include "tests/fuzz/cases/random.h"
#include "tests/fuzz/cases/size.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::fuzz {

std::string access(const Tensor& tensor, const std::vector<std::string>& indices);

// Returns the element that comes `distance` before along an axis, in the same place along the others, or mirrored.
Node earlier_element(Random& random, const Tensor& tensor, const std::vector<NamedAxis>& axes, std::size_t along,
                     std::int64_t distance);

// Returns the element where the axis is at least `begin`, and a constant before.
Node from(std::int64_t begin, const NamedAxis& axis, Node element);

// Returns an element of the tensor combined with another value, so that errors of rounding do not grow.
Node combined(Random& random, const Tensor& tensor, Node element, Node other);

}  // namespace ferry::fuzz
