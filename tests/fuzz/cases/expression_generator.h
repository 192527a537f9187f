// Generates random expressions. The caller supplies the reads of tensors.
#pragma once

#include "tests/fuzz/cases/fuzz_case.h"
#include "tests/fuzz/cases/random.h"

#include <functional>
#include <string>
#include <vector>

namespace ferry::fuzz {

DType random_type(Random& random);
DType random_integer(Random& random);

// Returns a value of kLargeScalar, often near an end of int64.
std::int64_t large_scalar(Random& random);
// Returns index arithmetic that may wrap: large multiples of an axis, kLargeScalar, or both.
std::string wrapping_index(Random& random, const std::string& axis);

class ExpressionGenerator {
 public:
  // Returns a read of an element of this type; with `exact`, one that has the same bits on every target.
  using ReadElement = std::function<Node(DType type, bool exact)>;

  ExpressionGenerator(Random& random, std::vector<std::string> axes, ReadElement read)
      : random_(random), axes_(std::move(axes)), read_(std::move(read)) {}

  Node expression(DType type, bool exact, int depth);
  Node leaf(DType type, bool exact);
  Node literal(DType type);

 private:
  Node integer(DType type, int depth);
  Node real(DType type, bool exact, int depth);
  Node math(DType type, int depth);
  Node condition(int depth);
  Node index_condition();
  Node choice(DType type, bool exact, int depth);
  Node converted(DType type, bool exact, int depth);

  Random& random_;
  std::vector<std::string> axes_;
  ReadElement read_;
};

}  // namespace ferry::fuzz
