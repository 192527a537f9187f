// Expressions as C, with as few parentheses as a reader needs.
#pragma once

#include "crosscompile/codegen/source/state.h"

namespace ferry::codegen::source {

// How tightly an operation binds; larger is tighter.
enum class Binding : std::uint8_t {
  lowest,
  choice,
  logical_or,
  logical_and,
  bit_or,
  bit_xor,
  bit_and,
  equality,
  comparison,
  shift,
  sum,
  product,
  unary,
  postfix
};

struct Text {
  std::string text;
  Binding binding = Binding::postfix;
  // An int where the IR has a wider type: fine as long as it meets something of that type.
  bool is_narrow_literal = false;
};

// Lets inside are declared before the statement that is being printed.
Text expr_text(FunctionState& state, const ir::Expr& expr);
// In parentheses where it binds less than what is around.
std::string print(FunctionState& state, const ir::Expr& expr, Binding around = Binding::lowest);
// Of an index, an offset or a loop's bound: what counts elements of memory does not overflow.
std::string print_index(FunctionState& state, const ir::Expr& expr, Binding around = Binding::lowest);

// "A[i * N + j]"
std::string element_text(FunctionState& state, const ir::Buffer& buffer, const ir::Expr& index);

std::string wrapped(Text text, Binding around);

}  // namespace ferry::codegen::source
