// Hashes of what nodes and kernels are compared by, so that each is compared only with those that have the same hash.
#pragma once

#include "host/graph/attributes.h"

#include <cstddef>
#include <cstdint>

namespace ferry::graph {

// Equal sequences of values have equal hashes. Sizes may be equal although their expressions differ, so all that are
// not numbers count as one value.
class HashCode {
 public:
  void add(std::uint64_t value) {
    code_ ^= value + 0x9e3779b97f4a7c15 + (code_ << 6U) + (code_ >> 2U);
    code_ *= 0xff51afd7ed558ccd;
    code_ ^= code_ >> 32U;
  }
  void add(const Size& size);
  void add(const Shape& shape);
  void add(const Attributes& attributes);

  std::size_t value() const { return code_; }

 private:
  std::uint64_t code_ = 0;
};

}  // namespace ferry::graph
