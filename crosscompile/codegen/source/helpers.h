// The small functions that printed code calls for what C has no operator for: floor division, conversions that
// saturate, minima that keep NaN, the bits of a float. A text holds those that it uses.
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
  // of one
  abs,
  popcount,
  clz,
  sigmoid,
  bits,       // of a float, as an unsigned integer
  from_bits,  // and back
  to_single,  // a narrow float as float32
  from_single,
};

class Helpers {
 public:
  explicit Helpers(const Dialect& dialect) : dialect_(dialect) {}

  // The name of the function, which is noted as used.
  std::string use(Helper helper, DType type);
  // From float32 or float64 to an integer; NaN gives 0.
  std::string use_saturating(DType from, DType to);
  // One whose text the caller has, from its result's type on.
  std::string use(const std::string& name, const std::string& definition);

  // Definitions of all that are used, in an order that compiles.
  const std::string& text() const { return text_; }

 private:
  void define(const std::string& name, const std::string& definition);

  const Dialect& dialect_;
  std::set<std::string> names_;
  std::string text_;
};

// Whether a helper may have this name (or that of an instruction, source/instructions.h).
bool is_helper(std::string_view name);

}  // namespace ferry::codegen::source
