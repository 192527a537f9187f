// Compares what a reference program computes with what the reference evaluator does.
#pragma once

#include "ferry/lang/program.h"
#include "host/lang/reference/reference.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ferry::test {

using Sizes = std::map<std::string, std::int64_t>;

struct Compared {
  std::string refusal;     // why the program has to be evaluated; empty: it does not
  std::string difference;  // the first one; empty: none
  std::uint64_t elements = 0;
  // The smallest and the largest quotient of the program's error and the evaluator's, over all elements with one.
  double least = 1, most = 1;
};

// Changes the contents of an input.
using Change = std::function<void(DType type, std::size_t elements, std::uint8_t* data)>;

// Compiles the reference program for this machine, calls it with random inputs, which `change` may change, and compares
// all elements. Values may be 1e-12 of themselves apart, and those that rounding changes as far as the evaluator's own
// bound. Errors may exceed the evaluator's by a millionth; of changed inputs, such as infinities, they may be unknown
// where the evaluator knows more.
Compared compare_with_evaluator(const lang::Program& program, const Sizes& sizes, lang::RoundingBound bound,
                                const Change& change = {}, std::uint64_t seed = 1);

}  // namespace ferry::test
