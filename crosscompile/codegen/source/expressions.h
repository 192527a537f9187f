// Prints expressions as C, with as few parentheses as a reader needs.
#pragma once

#include "crosscompile/codegen/source/state.h"

namespace ferry::codegen::source {

// The precedence of operations; larger binds tighter.
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
  // An int where the IR has a wider type, which is correct as long as the other operand has that type.
  bool is_narrow_literal = false;
};

// Declares the lets inside the expression before the statement that is being printed.
Text expr_text(FunctionState& state, const ir::Expr& expr);
// Adds parentheses where the expression binds less tightly than its context.
std::string print(FunctionState& state, const ir::Expr& expr, Binding around = Binding::lowest);
// Prints an index, an offset or a loop's bound: arithmetic that counts elements of memory does not overflow.
std::string print_index(FunctionState& state, const ir::Expr& expr, Binding around = Binding::lowest);

// Returns "A[i * N + j]", for example.
std::string element_text(FunctionState& state, const ir::Buffer& buffer, const ir::Expr& index);

std::string wrapped(Text text, Binding around);

}  // namespace ferry::codegen::source
