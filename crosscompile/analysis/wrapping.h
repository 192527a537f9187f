// Which 64-bit index arithmetic wraps, and which may be treated as arithmetic on integers of any size.
//
// The rule: sizes, loop variables and products of them are so small that, multiplied by factors whose magnitudes add up
// to kLargestFactor, their sum stays below 2^60. Such a sum does not wrap, nor does it with literals of up to 2^60 or
// data of up to 32 bits. Anything else may wrap: a sum or a product with a larger literal, or with an operand of 64
// bits that is data (an element of a tensor, the result of a call, a scalar argument that is not a size). Its value is
// that of the 64-bit operations as written: it must not be bounded, solved or compared by parts.
//
// A size is a variable in the shape of a tensor or in the range of a loop.
#pragma once

#include "crosscompile/ir/expr.h"

#include <functional>

namespace ferry::analysis {

inline constexpr std::int64_t kLargestFactor = std::int64_t{1} << 32;
inline constexpr std::int64_t kLargestLiteral = std::int64_t{1} << 60;

// Whether a variable is data: a number of 64 bits of which nothing is known.
using IsData = std::function<bool(const ir::Expr& var)>;

// What is known of the magnitude of a value.
struct Reach {
  std::int64_t factor = 0;    // multiplies sizes and loop variables
  std::int64_t constant = 0;  // the rest
  // Not limited: the value, or what is computed from it, may be any number in that direction.
  bool down = false, up = false;
  bool wraps = false;  // some sum or product below may have wrapped
};
Reach reach_of(const ir::Expr& expr, const IsData& is_data = {});

// Whether any sum or product of a scalar index expression may wrap. Data alone does not.
bool may_wrap(const ir::Expr& expr, const IsData& is_data = {});

// Whether an operand of a quotient, a minimum or anything else but a sum or a product may wrap. If not, the expression
// equals, modulo 2^64, the same arithmetic on integers of any size.
bool wraps_inside(const ir::Expr& expr, const IsData& is_data = {});

// Returns an expression that compares as this one does with everything that does not wrap, is no data and has no
// literals beyond kLargestLiteral, and whose difference from such does not wrap. Requires that the expression does not
// wrap.
ir::Expr limited(const ir::Expr& expr, const IsData& is_data = {});

}  // namespace ferry::analysis
