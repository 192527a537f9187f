// The small functions that printed code calls where C has no operator: floor division, saturating conversions, minima
// that propagate NaN, the bits of a float. A text contains only those that it uses.
#pragma once

#include "crosscompile/codegen/source/dialect.h"

#include <set>
#include <string>
#include <string_view>

namespace ferry::codegen::source {

enum class Helper : std::uint8_t {
  // of two values of a type
  floor_div,
  floor_mod,
  shift_left,
  shift_right,
  min,
  max,
  // of one value
  abs,
  popcount,
  clz,
  sigmoid,
  bits,       // the bits of a float, as an unsigned integer
  from_bits,  // the inverse of bits
  to_single,  // a narrow float as float32
  from_single,
};

class Helpers {
 public:
  explicit Helpers(const Dialect& dialect) : dialect_(dialect) {}

  // Returns the name of the function and marks it as used.
  std::string use(Helper helper, DType type);
  // Converts float32 or float64 to an integer; NaN gives 0.
  std::string use_saturating(DType from, DType to);
  // Uses a function whose definition, from its result type on, the caller provides.
  std::string use(const std::string& name, const std::string& definition);

  // Returns the definitions of all helpers used, in an order that compiles.
  const std::string& text() const { return text_; }

 private:
  void define(const std::string& name, const std::string& definition);

  const Dialect& dialect_;
  std::set<std::string> names_;
  std::string text_;
};

// Returns whether a helper may have this name (or an instruction, see source/instructions.h).
bool is_helper(std::string_view name);

}  // namespace ferry::codegen::source
