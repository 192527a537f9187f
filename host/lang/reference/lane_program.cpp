#include "host/lang/reference/lane_program.h"

#include "crosscompile/intrinsics/lower_intrinsics.h"
#include "crosscompile/ir/error.h"

#include <algorithm>
#include <cmath>

namespace ferry::lang {

const ir::Expr* rounded_by_addition(const ir::Call& bitcast) {
  const auto* sum = bitcast.arguments[0].as<ir::Binary>();
  if (sum == nullptr || sum->op != ir::BinaryOp::add || sum->type.code != DType::f32) return nullptr;
  const auto* rounder = sum->right.as<ir::FloatImm>();
  return rounder != nullptr && rounder->value == 0x1.8p23 ? &sum->left : nullptr;
}

namespace {

// The integer on the other side of a rounding boundary is equally right.
void add_rounding_errors(const Lanes& x, Lanes& out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const double here = std::nearbyint(x.real[i]), error = x.error[i];
    out.error[i] = std::fmax(std::fabs(std::nearbyint(x.real[i] + error) - here),
                             std::fabs(here - std::nearbyint(x.real[i] - error)));
  }
}

}  // namespace

Lanes& LaneProgram::make(DType type, bool exact) {
  lanes_.push_back(std::make_unique<Lanes>(type));
  lanes_.back()->exact = exact;
  lanes_.back()->notices_exact = notices_exact_;
  return *lanes_.back();
}

Lanes& LaneProgram::bind(const ir::Expr& variable) {
  Lanes& lanes = make(variable.type().code, true);
  variables_[variable.get()] = &lanes;
  return lanes;
}

void LaneProgram::bind_integer(const ir::Expr& variable, std::int64_t value) { bind(variable).integer.fill(value); }
void LaneProgram::bind_real(const ir::Expr& variable, double value) { bind(variable).real.fill(value); }

const Lanes& LaneProgram::add(const ir::Expr& expr, const Lanes* mask) {
  kept_.push_back(expr);
  return compile(expr, mask);
}

const Lanes& LaneProgram::compile(const ir::Expr& expr, const Lanes* mask) {
  const auto key = std::pair(expr.get(), mask);
  if (const auto known = done_.find(key); known != done_.end()) return *known->second;
  const auto result = [&]() -> const Lanes& {
    switch (expr.kind()) {
      case ir::ExprKind::IntImm:
      case ir::ExprKind::FloatImm: return constant(expr);
      case ir::ExprKind::Var: {
        const auto found = variables_.find(expr.get());
        if (found == variables_.end())
          throw InternalError("reference: the variable '" + expr.as<ir::Var>()->name + "' has no value");
        return *found->second;
      }
      case ir::ExprKind::Cast: {
        const Lanes& value = compile(expr.as<ir::Cast>()->value, mask);
        Lanes& out = make(expr.type().code, cast_stays_exact(value, expr.type().code));
        steps_.push_back([&value, &out](std::size_t n) { apply_cast(value, out, n); });
        return out;
      }
      case ir::ExprKind::Unary: {
        const auto& node = *expr.as<ir::Unary>();
        const Lanes& value = compile(node.value, mask);
        Lanes& out = make(expr.type().code, value.exact);
        steps_.push_back([op = node.op, &value, &out](std::size_t n) { apply_unary(op, value, out, n); });
        return out;
      }
      case ir::ExprKind::Binary: return binary(*expr.as<ir::Binary>(), mask);
      case ir::ExprKind::Select: {
        const auto& node = *expr.as<ir::Select>();
        const Lanes& condition = compile(node.condition, mask);
        const Lanes& on_true = compile(node.on_true, mask);
        return choice(condition, on_true, compile(node.on_false, mask));
      }
      case ir::ExprKind::IfThenElse: return guarded_choice(*expr.as<ir::IfThenElse>(), mask);
      case ir::ExprKind::Load: return load(*expr.as<ir::Load>(), mask);
      case ir::ExprKind::Call: return call(*expr.as<ir::Call>(), mask);
      case ir::ExprKind::Let: {
        const auto& node = *expr.as<ir::Let>();
        variables_[node.var.get()] = &compile(node.value, mask);
        return compile(node.body, mask);
      }
      default:
        throw InternalError("reference: an expression that stands only in lowered code, or a reduction inside one");
    }
  };
  const Lanes& lanes = result();
  done_.emplace(key, &lanes);
  return lanes;
}

const Lanes& LaneProgram::constant(const ir::Expr& expr) {
  Lanes& out = make(expr.type().code, true);
  if (const auto* integer = expr.as<ir::IntImm>()) {
    out.integer.fill(integer->value);
  } else {
    out.real.fill(expr.as<ir::FloatImm>()->value);
  }
  return out;
}

const Lanes& LaneProgram::binary(const ir::Binary& node, const Lanes* mask) {
  const Lanes& left = compile(node.left, mask);
  const Lanes& right = compile(node.right, mask);
  Lanes& out = make(node.type.code, stays_exact(node.op, left, right));
  steps_.push_back([op = node.op, &left, &right, &out](std::size_t n) { apply_binary(op, left, right, out, n); });
  return out;
}

const Lanes& LaneProgram::choice(const Lanes& condition, const Lanes& on_true, const Lanes& on_false) {
  Lanes& out = make(on_true.type, condition.exact && on_true.exact && on_false.exact);
  steps_.push_back(
      [&condition, &on_true, &on_false, &out](std::size_t n) { apply_choice(condition, on_true, on_false, out, n); });
  return out;
}

const Lanes* LaneProgram::narrower(const Lanes* mask, const Lanes& a, bool wanted) {
  Lanes& out = make(DType::boolean, true);
  steps_.push_back([mask, &a, wanted, &out](std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      out.integer[i] = (a.integer[i] != 0) == wanted && (mask == nullptr || mask->integer[i] != 0);
    }
  });
  return &out;
}

// The side that is not chosen reads nothing in that lane.
const Lanes& LaneProgram::guarded_choice(const ir::IfThenElse& node, const Lanes* mask) {
  const Lanes& condition = compile(node.condition, mask);
  const Lanes& on_true = compile(node.on_true, narrower(mask, condition, true));
  const Lanes& on_false = compile(node.on_false, narrower(mask, condition, false));
  Lanes& out = make(on_true.type, on_true.exact && on_false.exact);
  // The side that is not chosen has no value here, so an uncertain condition adds no error.
  Lanes& certain = make(DType::boolean, true);
  steps_.push_back([&condition, &certain, &on_true, &on_false, &out](std::size_t n) {
    certain.integer = condition.integer;
    apply_choice(certain, on_true, on_false, out, n);
  });
  return out;
}

const Lanes& LaneProgram::load(const ir::Load& node, const Lanes* mask) {
  std::vector<const Lanes*> indices;
  for (const ir::Expr& index : node.indices) indices.push_back(&compile(index, mask));
  if (node.mask.defined()) throw InternalError("reference: masked loads stand only in lowered code");
  ElementSource& source = find_(node.buffer);
  Lanes& out = make(node.type.code, source.exact());
  const ir::BufferRef buffer = node.buffer;
  steps_.push_back([this, buffer, mask, indices, &source, &out](std::size_t n) {
    std::array<std::uint64_t, kLanes> positions{};
    const std::span<const std::int64_t> extents = source.extents();
    // Negative when any index is below 0 or beyond the last one.
    std::int64_t outside = 0;
    for (std::size_t d = 0; d < indices.size(); ++d) {
      outside |= add_dimension(*indices[d], extents[d], positions.data(), n);
    }
    if (outside < 0) check_inside(*buffer, extents, indices, mask, n);
    source.fetch(positions.data(), mask == nullptr ? nullptr : mask->integer.data(), n, out);
  });
  return out;
}

// Reports the first index out of bounds; lanes that the mask excludes may be out of bounds.
void LaneProgram::check_inside(const ir::Buffer& buffer, std::span<const std::int64_t> extents,
                               const std::vector<const Lanes*>& indices, const Lanes* mask, std::size_t n) const {
  for (std::size_t i = 0; i < n; ++i) {
    if (mask != nullptr && mask->integer[i] == 0) continue;
    bool outside = false;
    std::string at, size;
    for (std::size_t d = 0; d < indices.size(); ++d) {
      const std::int64_t index = indices[d]->integer[i];
      outside = outside || index < 0 || index >= extents[d];
      if (d > 0) {
        at += ',';
        size += ',';
      }
      at += std::to_string(index);
      size += std::to_string(extents[d]);
    }
    if (!outside) continue;
    throw CompileError("'" + name_ + "' reads '" + buffer.name + "' at [" + at + "], outside its shape [" + size + "]");
  }
}

const Lanes& LaneProgram::call(const ir::Call& node, const Lanes* mask) {
  if (intrinsics_ != nullptr && passes::lowers(*intrinsics_, node.callee)) {
    // The rule for the generic target defines the meaning of the name.
    const ir::Expr definition = passes::lower(*intrinsics_, node, Target());
    const auto* same = definition.as<ir::Call>();
    if (same == nullptr || same->callee != node.callee) return add(definition, mask);
  }
  std::vector<const Lanes*> arguments;
  for (const ir::Expr& argument : node.arguments) arguments.push_back(&compile(argument, mask));
  switch (node.callee.op) {
    case ir::CallOp::bitcast: {
      const Lanes& a = *arguments[0];
      const ir::Expr* rounded = rounded_by_addition(node);
      const Lanes* x = rounded != nullptr ? &compile(*rounded, mask) : nullptr;
      Lanes& out = make(node.type.code, x == nullptr || x->exact);
      steps_.push_back([&a, x, &out](std::size_t n) {
        apply_bitcast(a, out, n);
        if (!out.exact) add_rounding_errors(*x, out, n);
      });
      return out;
    }
    case ir::CallOp::math:
      if (node.type.is_float()) return real_call(node, ir::real_function(node.callee.math), arguments);
      return integer_call(node, *arguments[0]);
    case ir::CallOp::external: {
      const auto known = ir::find_c_math(node.callee.name, node.type.code);
      const ir::RealFunction function = known && node.type.is_float() ? ir::real_function(*known) : nullptr;
      if (function != nullptr && !arguments.empty()) return real_call(node, function, arguments);
      break;
    }
    case ir::CallOp::intrinsic:
    case ir::CallOp::dot:
    case ir::CallOp::scale:
    case ir::CallOp::shuffle_xor:
    case ir::CallOp::barrier:
    case ir::CallOp::prefetch:
    case ir::CallOp::commit_copies:
    case ir::CallOp::wait_copies:
    case ir::CallOp::address_of: break;
  }
  throw CompileError("'" + name_ + "' calls '" + to_text(node.callee) + "', which cannot be evaluated here");
}

const Lanes& LaneProgram::real_call(const ir::Call& node, ir::RealFunction function,
                                    const std::vector<const Lanes*>& arguments) {
  Lanes& out = make(node.type.code, false);
  const Lanes& a = *arguments[0];
  const Lanes* b = arguments.size() > 1 ? arguments[1] : nullptr;
  const Lanes* c = arguments.size() > 2 ? arguments[2] : nullptr;
  steps_.push_back([function, &a, b, c, &out](std::size_t n) { apply_math(function, a, b, c, out, n); });
  return out;
}

const Lanes& LaneProgram::integer_call(const ir::Call& node, const Lanes& a) {
  Lanes& out = make(node.type.code, a.exact);
  steps_.push_back(
      [function = node.callee.math, &a, &out](std::size_t n) { apply_integer_function(function, a, out, n); });
  return out;
}

}  // namespace ferry::lang
