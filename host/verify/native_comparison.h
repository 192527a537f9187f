// Compares the elements of an output with those that the compiled definition computes.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "host/lang/reference/reference.h"
#include "host/verify/native_definition.h"
#include "module/manifest.h"

namespace ferry::verify {

// How far an element may be from the expected value: atol + rtol * |expected| + rounding * error.
struct Tolerance {
  double rtol = 0, atol = 0;
  // Factor of the rounding error of the element's terms that is allowed in addition.
  double rounding = 0;

  bool is_exact() const { return rtol == 0 && atol == 0 && rounding == 0; }
};

class NativeComparison {
 public:
  // `bytes` are the output's. All must outlive this object.
  NativeComparison(const ParameterInfo& info, const NativeOutput& native, const std::vector<std::uint8_t>& bytes,
                   const Tolerance& tolerance, lang::RoundingBound bound)
      : info_(info), native_(native), bytes_(bytes), tolerance_(tolerance), bound_(bound) {}

  // Whether nothing is wrong with the element, unless the compiled definition is. With RoundingBound::exact it has to
  // be equal.
  bool accepts(std::uint64_t position) const;

  // Looks at all elements but those at `positions`, which are in order, and adds the positions of those that it does
  // not accept; of more than `most` a random selection. Calls `accepted` with what was computed and what was expected
  // for floats that it accepts. Returns the number of elements that it accepts.
  using Accepted = std::function<void(std::uint64_t position, double got, double want)>;
  std::uint64_t add_rejected(std::vector<std::uint64_t>& positions, std::uint64_t most, const Accepted& accepted) const;

 private:
  const ParameterInfo& info_;
  const NativeOutput& native_;
  const std::vector<std::uint8_t>& bytes_;
  const Tolerance& tolerance_;
  const lang::RoundingBound bound_;
};

}  // namespace ferry::verify
