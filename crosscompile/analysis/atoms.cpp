#include "crosscompile/analysis/atoms.h"

#include "crosscompile/analysis/count_nodes.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/visitor.h"

#include <algorithm>
#include <limits>
#include <string_view>

namespace ferry::analysis {
namespace {

using namespace ir;

// Returns whether two calls with equal arguments give the same result, wherever they stand.
bool is_pure(CallOp op) {
  switch (op) {
    case CallOp::math:
    case CallOp::bitcast:
    case CallOp::scale: return true;
    case CallOp::external:
    case CallOp::intrinsic:
    case CallOp::dot:
    case CallOp::shuffle_xor:
    case CallOp::barrier:
    case CallOp::prefetch:
    case CallOp::commit_copies:
    case CallOp::wait_copies:
    case CallOp::address_of: return false;
  }
  throw InternalError("is_pure: unknown operation");
}

class MemoryFinder : public Visitor {
 public:
  bool found = false;
  bool external = false;

 protected:
  void visit_node(const Load&) override { found = true; }
  void visit_node(const Call& node) override {
    if (!is_pure(node.callee.op)) found = external = true;
    Visitor::visit_node(node);
  }
};

// Returns the count of a constant shift, which is equivalent to a product or a quotient.
const std::int64_t* shift_count(const Expr& expr) {
  const std::int64_t* count = as_int(expr);
  return count != nullptr && *count >= 0 && *count < 62 ? count : nullptr;
}

std::size_t hash_of(AtomKind kind, const Polynomial& left, const Polynomial& right) {
  return (left.hash() * 31 + right.hash()) * 31 + static_cast<std::size_t>(kind);
}

}  // namespace

bool touches_memory(const Expr& expr) {
  MemoryFinder finder;
  finder.visit(expr);
  return finder.found;
}

Atoms::Atoms() {
  constexpr std::size_t kFew = 8;
  atoms_.reserve(kFew);
  atoms_.emplace_back();
}

AtomId Atoms::append(Atom atom) {
  if (atoms_.size() > std::numeric_limits<AtomId>::max()) return 0;
  const auto id = static_cast<AtomId>(atoms_.size());
  atoms_.push_back(std::move(atom));
  return id;
}

AtomId Atoms::insert(Atom atom, std::size_t hash) {
  const AtomId id = append(std::move(atom));
  if (id != 0) by_hash_.emplace(hash, id);
  return id;
}

AtomId Atoms::variable(const Expr& var) {
  const auto [entry, is_new] = variables_.try_emplace(var.get(), AtomId{0});
  if (is_new) {
    Atom atom;
    atom.kind = AtomKind::variable;
    atom.expr = var;
    entry->second = append(std::move(atom));
  }
  return entry->second;
}

AtomId Atoms::lane(std::uint32_t lanes) {
  const auto [entry, is_new] = lanes_.try_emplace(lanes, AtomId{0});
  if (is_new) {
    Atom atom;
    atom.kind = AtomKind::lane;
    atom.expr = Ramp::make(0, 1, lanes);
    entry->second = append(std::move(atom));
  }
  return entry->second;
}

AtomId Atoms::find(AtomKind kind, const Polynomial& left, const Polynomial& right) const {
  const auto [first, last] = by_hash_.equal_range(hash_of(kind, left, right));
  for (auto entry = first; entry != last; ++entry) {
    const Atom& atom = atoms_[entry->second];
    if (atom.kind == kind && atom.left == left && atom.right == right) return entry->second;
  }
  return 0;
}

AtomId Atoms::combined(AtomKind kind, const Polynomial& left, const Polynomial& right) {
  if (const AtomId found = find(kind, left, right); found != 0) return found;
  std::uint32_t lanes = 1;
  for (const Polynomial* side : {&left, &right}) {
    for (const Term& term : side->terms) {
      for (std::size_t i = 0; i < term.product.degree; ++i) {
        lanes = std::max(lanes, atoms_[term.product.factors[i]].expr.type().lanes);
      }
    }
  }
  Atom atom;
  atom.kind = kind;
  const BinaryOp op = kind == AtomKind::quotient ? BinaryOp::div : BinaryOp::mod;
  atom.expr = Binary::make(op, expression(left, lanes), expression(right, lanes));
  atom.left = left;
  atom.right = right;
  atom.is_volatile = is_volatile(left) || is_volatile(right);
  return insert(std::move(atom), hash_of(kind, left, right));
}

bool Atoms::is_volatile(const Polynomial& polynomial) const {
  for (const Term& term : polynomial.terms) {
    for (std::size_t i = 0; i < term.product.degree; ++i) {
      if (atoms_[term.product.factors[i]].is_volatile) return true;
    }
  }
  return false;
}

const Polynomial& Atoms::polynomial(const Expr& expr) {
  if (const auto found = cache_.find(expr.get()); found != cache_.end()) return found->second.polynomial;
  Polynomial computed = compute(expr);
  return cache_.try_emplace(expr.get(), Cached{expr, std::move(computed)}).first->second.polynomial;
}

Polynomial Atoms::compute(const Expr& expr) {
  switch (expr.kind()) {
    case ExprKind::IntImm: return constant_polynomial(expr.as<IntImm>()->value);
    case ExprKind::Var: {
      const AtomId id = variable(expr);
      return id == 0 ? invalid() : atom_polynomial(id);
    }
    case ExprKind::Unary:
      if (expr.as<Unary>()->op == UnaryOp::neg) return scale(polynomial(expr.as<Unary>()->value), -1);
      return opaque(expr);
    case ExprKind::Binary: return of_binary(*expr.as<Binary>(), expr);
    case ExprKind::Select: return pair(AtomKind::choice, expr, expr.as<Select>()->on_true, expr.as<Select>()->on_false);
    case ExprKind::IfThenElse:
      return pair(AtomKind::choice, expr, expr.as<IfThenElse>()->on_true, expr.as<IfThenElse>()->on_false);
    case ExprKind::Ramp: {
      const auto* ramp = expr.as<Ramp>();
      const AtomId id = lane(ramp->type.lanes);
      if (id == 0) return invalid();
      return add(polynomial(ramp->base), multiply(polynomial(ramp->stride), atom_polynomial(id)));
    }
    case ExprKind::Broadcast: return polynomial(expr.as<Broadcast>()->value);
    default: return opaque(expr);
  }
}

Polynomial Atoms::of_binary(const Binary& node, const Expr& expr) {
  switch (node.op) {
    case BinaryOp::add: return add(polynomial(node.left), polynomial(node.right));
    case BinaryOp::sub: return add(polynomial(node.left), polynomial(node.right), -1);
    case BinaryOp::mul: {
      Polynomial product = multiply(polynomial(node.left), polynomial(node.right));
      return product.valid ? product : opaque(expr);
    }
    case BinaryOp::shl:
      if (const std::int64_t* count = shift_count(node.right))
        return scale(polynomial(node.left), std::int64_t{1} << *count);
      return opaque(expr);
    case BinaryOp::shr:
      if (const std::int64_t* count = shift_count(node.right)) {
        return pair(AtomKind::quotient, expr, node.left, constant(node.right.type(), std::int64_t{1} << *count));
      }
      return opaque(expr);
    case BinaryOp::div: return pair(AtomKind::quotient, expr, node.left, node.right);
    case BinaryOp::mod: return pair(AtomKind::remainder, expr, node.left, node.right);
    case BinaryOp::min: return pair(AtomKind::minimum, expr, node.left, node.right);
    case BinaryOp::max: return pair(AtomKind::maximum, expr, node.left, node.right);
    default: return opaque(expr);
  }
}

Polynomial Atoms::pair(AtomKind kind, const Expr& expr, const Expr& left, const Expr& right) {
  Atom atom;
  atom.kind = kind;
  atom.left = polynomial(left);
  atom.right = polynomial(right);
  if (!atom.left.valid || !atom.right.valid) return opaque(expr);
  // A choice also depends on its condition, so it is identified by its expression.
  if (kind == AtomKind::choice) {
    const std::size_t hash = hash_of(kind, atom.left, atom.right);
    const auto [first, last] = by_hash_.equal_range(hash);
    for (auto entry = first; entry != last; ++entry) {
      if (equal(atoms_[entry->second].expr, expr)) return atom_polynomial(entry->second);
    }
    atom.expr = expr;
    atom.is_volatile = touches_memory(expr);
    const AtomId id = insert(std::move(atom), hash);
    return id == 0 ? invalid() : atom_polynomial(id);
  }
  if (const AtomId found = find(kind, atom.left, atom.right); found != 0) return atom_polynomial(found);
  const std::size_t hash = hash_of(kind, atom.left, atom.right);
  atom.expr = expr;
  atom.is_volatile = is_volatile(atom.left) || is_volatile(atom.right);
  const AtomId id = insert(std::move(atom), hash);
  return id == 0 ? invalid() : atom_polynomial(id);
}

Polynomial Atoms::opaque(const Expr& expr) {
  MemoryFinder memory;
  memory.visit(expr);
  const std::size_t hash = static_cast<std::size_t>(expr.kind()) * 131 + count_nodes(expr);
  // Two calls of an external function need not give the same result.
  if (!memory.external) {
    const auto [first, last] = by_hash_.equal_range(hash);
    for (auto entry = first; entry != last; ++entry) {
      if (atoms_[entry->second].kind == AtomKind::opaque && equal(atoms_[entry->second].expr, expr)) {
        return atom_polynomial(entry->second);
      }
    }
  }
  Atom atom;
  atom.expr = expr;
  atom.is_volatile = memory.found;
  const AtomId id = insert(std::move(atom), hash);
  return id == 0 ? invalid() : atom_polynomial(id);
}

}  // namespace ferry::analysis
