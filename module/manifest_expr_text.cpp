// Converts postfix code to infix text.
#include "module/manifest_expr.h"

namespace ferry {
namespace {

// The precedences of C; a higher number binds tighter.
enum Precedence { kOr = 1, kAnd, kEquality, kComparison, kSum, kProduct, kUnary, kAtom };

struct Infix {
  const char* text;
  Precedence precedence;
};

// An operation without an infix form has a null text and is written as a call.
Infix infix_of(ManifestOp op) {
  switch (op) {
    case ManifestOp::add: return {" + ", kSum};
    case ManifestOp::sub: return {" - ", kSum};
    case ManifestOp::mul: return {" * ", kProduct};
    case ManifestOp::floordiv: return {" / ", kProduct};
    case ManifestOp::floormod: return {" % ", kProduct};
    case ManifestOp::eq: return {" == ", kEquality};
    case ManifestOp::ne: return {" != ", kEquality};
    case ManifestOp::lt: return {" < ", kComparison};
    case ManifestOp::le: return {" <= ", kComparison};
    case ManifestOp::logical_and: return {" && ", kAnd};
    case ManifestOp::logical_or: return {" || ", kOr};
    case ManifestOp::logical_not: return {"!", kUnary};
    case ManifestOp::constant:
    case ManifestOp::symbol:
    case ManifestOp::min:
    case ManifestOp::max:
    case ManifestOp::select: break;
  }
  return {nullptr, kAtom};
}

const char* call_name(ManifestOp op) {
  return op == ManifestOp::min ? "min" : op == ManifestOp::max ? "max" : "select";
}

struct Piece {
  std::string text;
  Precedence precedence;
};

std::string wrapped(Piece piece, Precedence least) {
  return piece.precedence < least ? "(" + piece.text + ")" : std::move(piece.text);
}

Piece combined(ManifestOp op, std::span<Piece> operands) {
  const Infix infix = infix_of(op);
  if (infix.text == nullptr) {
    std::string text = std::string(call_name(op)) + "(";
    for (std::size_t i = 0; i < operands.size(); ++i) text += (i == 0 ? "" : ", ") + operands[i].text;
    return {text + ")", kAtom};
  }
  if (operands.size() == 1) return {infix.text + wrapped(std::move(operands[0]), kUnary), kUnary};
  // A right operand of the same precedence needs parentheses: a - (b - c).
  const auto tighter = static_cast<Precedence>(infix.precedence + 1);
  return {wrapped(std::move(operands[0]), infix.precedence) + infix.text + wrapped(std::move(operands[1]), tighter),
          infix.precedence};
}

}  // namespace

std::string to_text(const ManifestExpr& expr, std::span<const std::string> symbol_names) {
  if (expr.code.empty()) return "0";
  if (!check_manifest_expr(expr, symbol_names.size()).is_ok()) return "<malformed expression>";
  std::vector<Piece> stack;
  for (const ManifestInstruction& instruction : expr.code) {
    if (instruction.op == ManifestOp::constant) {
      stack.push_back({std::to_string(instruction.value), instruction.value < 0 ? kUnary : kAtom});
    } else if (instruction.op == ManifestOp::symbol) {
      stack.push_back({symbol_names[static_cast<std::size_t>(instruction.value)], kAtom});
    } else {
      const std::size_t first = stack.size() - static_cast<std::size_t>(manifest_arity(instruction.op));
      Piece piece = combined(instruction.op, std::span(stack).subspan(first));
      stack.resize(first);
      stack.push_back(std::move(piece));
    }
  }
  return stack.back().text;
}

std::string symbols_text(const ManifestExpr& expr, std::span<const std::string> symbol_names,
                         std::span<const std::int64_t> symbols) {
  std::string text;
  for (std::size_t s = 0; s < symbols.size(); ++s) {
    bool used = false;
    for (const ManifestInstruction& instruction : expr.code)
      used = used || (instruction.op == ManifestOp::symbol && static_cast<std::size_t>(instruction.value) == s);
    if (used) text += (text.empty() ? ", got " : ", ") + symbol_names[s] + " = " + std::to_string(symbols[s]);
  }
  return text;
}

}  // namespace ferry
