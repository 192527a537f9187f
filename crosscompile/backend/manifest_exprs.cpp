#include "crosscompile/backend/manifest_exprs.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/printer.h"
#include "ferry/operators.h"

#include <optional>
#include <unordered_map>

namespace ferry {
namespace {

using ir::BinaryOp;

class Writer {
 public:
  Writer(const ir::Function& function, const std::string& what, DivisionByZero by_zero)
      : what_(what), by_zero_(by_zero) {
    for (std::size_t i = 0; i < function.symbols.size(); ++i) {
      values_[function.symbols[i].get()] = manifest_symbol(static_cast<std::uint32_t>(i));
    }
  }

  void write(const ir::Expr& expr) {
    if (const auto* imm = expr.as<ir::IntImm>()) return append(manifest_constant(imm->value));
    if (expr.as<ir::Var>() != nullptr) return variable(expr);
    if (const auto* binary = expr.as<ir::Binary>()) return write_binary(*binary, expr);
    if (const auto* unary = expr.as<ir::Unary>()) return write_unary(*unary, expr);
    if (const auto* select = expr.as<ir::Select>()) {
      return choice(select->condition, select->on_true, select->on_false);
    }
    if (const auto* choose = expr.as<ir::IfThenElse>()) {
      return choice(choose->condition, choose->on_true, choose->on_false);
    }
    if (const auto* cast = expr.as<ir::Cast>()) return write_cast(*cast, expr);
    if (const auto* let = expr.as<ir::Let>()) {
      Writer value(*this);
      value.code_.code.clear();
      value.write(let->value);
      values_[let->var.get()] = value.code_;
      return write(let->body);
    }
    refuse(expr);
  }

  ManifestExpr result() const { return code_; }

 private:
  [[noreturn]] void refuse(const ir::Expr& expr) const {
    throw CompileError(what_ + ": expected integer arithmetic over sizes, got " + ir::to_text(expr));
  }
  void append(const ManifestExpr& part) { code_.code.insert(code_.code.end(), part.code.begin(), part.code.end()); }
  void op(ManifestOp which) { code_.code.push_back({which, 0}); }

  void variable(const ir::Expr& expr) {
    const auto found = values_.find(expr.get());
    if (found == values_.end()) refuse(expr);
    append(found->second);
  }

  void write_binary(const ir::Binary& node, const ir::Expr& whole) {
    const bool swapped = node.op == BinaryOp::gt || node.op == BinaryOp::ge;
    const auto which = op_of(node.op);
    if (!which) refuse(whole);
    write(swapped ? node.right : node.left);
    write(swapped ? node.left : node.right);
    const bool divides = node.op == BinaryOp::div || node.op == BinaryOp::mod;
    const std::int64_t* divisor = ir::as_int(node.right);
    const bool may_be_zero = divides && (divisor == nullptr || *divisor == 0);
    if (!may_be_zero || by_zero_ == DivisionByZero::error) return op(*which);
    // x / (y + (y == 0)) * (y != 0). A remainder needs no second factor, because x % 1 is 0 already.
    compare_with_zero(node.right, ManifestOp::eq);
    op(ManifestOp::add);
    op(*which);
    if (node.op == BinaryOp::mod) return;
    compare_with_zero(node.right, ManifestOp::ne);
    op(ManifestOp::mul);
  }

  void compare_with_zero(const ir::Expr& expr, ManifestOp comparison) {
    write(expr);
    append(manifest_constant(0));
    op(comparison);
  }

  void write_unary(const ir::Unary& node, const ir::Expr& whole) {
    switch (node.op) {
      case ir::UnaryOp::neg:
        append(manifest_constant(0));
        write(node.value);
        return op(ManifestOp::sub);
      case ir::UnaryOp::logical_not: write(node.value); return op(ManifestOp::logical_not);
      case ir::UnaryOp::bit_not: break;
    }
    refuse(whole);
  }

  // Accepts only casts that preserve every value: manifests have no narrow integers.
  void write_cast(const ir::Cast& node, const ir::Expr& whole) {
    const bool from_bool = node.value.type().is_bool();
    const bool keeps = node.type == ir::kIndex && (from_bool || node.value.type().is_int());
    if (!keeps || node.value.type().code == DType::u64) refuse(whole);
    write(node.value);
  }

  void choice(const ir::Expr& condition, const ir::Expr& on_true, const ir::Expr& on_false) {
    write(condition);
    write(on_true);
    write(on_false);
    op(ManifestOp::select);
  }

  static std::optional<ManifestOp> op_of(BinaryOp op) {
    switch (op) {
      case BinaryOp::add: return ManifestOp::add;
      case BinaryOp::sub: return ManifestOp::sub;
      case BinaryOp::mul: return ManifestOp::mul;
      case BinaryOp::div: return ManifestOp::floordiv;
      case BinaryOp::mod: return ManifestOp::floormod;
      case BinaryOp::min: return ManifestOp::min;
      case BinaryOp::max: return ManifestOp::max;
      case BinaryOp::eq: return ManifestOp::eq;
      case BinaryOp::ne: return ManifestOp::ne;
      case BinaryOp::lt:
      case BinaryOp::gt: return ManifestOp::lt;
      case BinaryOp::le:
      case BinaryOp::ge: return ManifestOp::le;
      case BinaryOp::logical_and: return ManifestOp::logical_and;
      case BinaryOp::logical_or: return ManifestOp::logical_or;
      case BinaryOp::bit_and:
      case BinaryOp::bit_or:
      case BinaryOp::bit_xor:
      case BinaryOp::shl:
      case BinaryOp::shr: return std::nullopt;
    }
    throw InternalError("op_of: unknown operation");
  }

  const std::string& what_;
  DivisionByZero by_zero_;
  std::unordered_map<const ir::ExprNode*, ManifestExpr> values_;
  ManifestExpr code_;
};

}  // namespace

ManifestExpr to_manifest(const ir::Expr& expr, const ir::Function& function, const std::string& what,
                         DivisionByZero by_zero) {
  if (!expr.defined()) return manifest_constant(0);
  Writer writer(function, what, by_zero);
  writer.write(expr);
  ManifestExpr result = writer.result();
  if (const Status status = check_manifest_expr(result, function.symbols.size()); !status.is_ok()) {
    throw CompileError(what + " is too long for a manifest: " + status.message());
  }
  return result;
}

}  // namespace ferry
