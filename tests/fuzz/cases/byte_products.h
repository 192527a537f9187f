// Matrix products of bytes, which default schedules compute by dot instructions.
#pragma once

#include "tests/fuzz/cases/elements.h"
#include "tests/fuzz/cases/fuzz_case.h"
#include "tests/fuzz/cases/random.h"

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace ferry::fuzz {

constexpr std::size_t kMaxInputs = 5;

// Returns, for some stages of int32, a sum of products of two new inputs of bytes. Whether it does is decided without a
// draw from the stream of random numbers.
std::optional<Statement> byte_product(Random& random, const Tensor& stage, const std::vector<NamedAxis>& axes,
                                      std::deque<Tensor>& inputs);

}  // namespace ferry::fuzz
