#include "crosscompile/ir/expr.h"

#include "crosscompile/ir/arithmetic.h"
#include "crosscompile/ir/make.h"

#include <cstring>

namespace ferry::ir {
namespace {

std::shared_ptr<const IntImm> index_constant(std::int64_t value) {
  auto node = new_node<IntImm>();
  node->type = kIndex;
  node->value = value;
  return node;
}

void check_scalar(const Expr& expr, const char* what) { expect(expr.defined() && expr.type().is_scalar(), what); }

bool operand_allowed(BinaryOp op, Type type) {
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::mul:
    case BinaryOp::div:
    case BinaryOp::min:
    case BinaryOp::max: return !type.is_bool();
    case BinaryOp::mod:
    case BinaryOp::shl:
    case BinaryOp::shr: return type.is_int();
    case BinaryOp::bit_and:
    case BinaryOp::bit_or:
    case BinaryOp::bit_xor: return !type.is_float();
    case BinaryOp::eq:
    case BinaryOp::ne: return true;
    case BinaryOp::lt:
    case BinaryOp::le:
    case BinaryOp::gt:
    case BinaryOp::ge: return !type.is_bool();
    case BinaryOp::logical_and:
    case BinaryOp::logical_or: return type.is_bool();
  }
  return false;
}

template <class T>
Expr make_choice(Expr condition, Expr on_true, Expr on_false) {
  expect(condition && on_true && on_false, "a choice needs a condition and two values");
  expect(condition.type().is_bool(), "the condition of a choice must be bool");
  expect(on_true.type() == on_false.type(), "the two values of a choice must have one type");
  expect(condition.type().lanes == on_true.type().lanes, "a choice's condition must have as many lanes as its values");
  auto node = new_node<T>();
  node->type = on_true.type();
  deepen_all(*node, condition, on_true, on_false);
  node->condition = std::move(condition);
  node->on_true = std::move(on_true);
  node->on_false = std::move(on_false);
  return std::shared_ptr<const T>(std::move(node));
}

void check_math(const MathSignature& function, Type type, const std::vector<Expr>& arguments) {
  expect(arguments.size() == function.arguments, "a math call has the wrong number of arguments");
  expect(!type.is_bool() && (function.kind != MathKind::float_only || type.is_float()) &&
             (function.kind != MathKind::integer || type.is_int()),
         "a math call has a type its function is not defined for");
  for (const Expr& argument : arguments) expect(argument.type() == type, "a math call's arguments must have its type");
}

void check_dot(Type type, const std::vector<Expr>& arguments) {
  expect(arguments.size() == 3 && arguments[0].type() == type && (type.code == DType::i32 || type.code == DType::f32),
         "a dot needs a sum of its type, i32 or f32, and two vectors");
  const Type left = arguments[1].type(), right = arguments[2].type();
  expect(left.lanes == right.lanes && left.lanes % type.lanes == 0, "a dot's vectors need a multiple of its lanes");
  for (const Type factor : {left, right}) {
    expect(type.is_float() ? factor.is_float() && factor.bits() <= 32 : factor.is_int() && factor.bits() <= 16,
           "a dot's vectors must be floats for a float, and integers of at most 16 bits for an integer");
  }
}

void check_call(Type type, const Callee& callee, const std::vector<Expr>& arguments) {
  const auto expect_arguments = [&](std::size_t count) {
    if (arguments.size() != count) throw InternalError("'" + to_text(callee) + "' has the wrong number of arguments");
  };
  switch (callee.op) {
    case CallOp::math: return check_math(signature_of(callee.math), type, arguments);
    case CallOp::external:
    case CallOp::intrinsic: return expect(!callee.name.empty(), "a call needs the name of its function");
    case CallOp::bitcast:
      expect_arguments(1);
      return expect(arguments[0].type().bits() == type.bits(), "a bitcast needs a value of the same width");
    case CallOp::dot: return check_dot(type, arguments);
    case CallOp::scale:
      expect_arguments(2);
      return expect(type.code == DType::f32 && arguments[0].type() == type && arguments[1].type() == type,
                    "a scale needs two values of type f32");
    case CallOp::shuffle_xor:
      expect_arguments(2);
      return expect(arguments[0].type() == type, "a shuffle has the type of its value");
    case CallOp::barrier:
    case CallOp::commit_copies: return expect_arguments(0);
    case CallOp::wait_copies:
      expect_arguments(1);
      return expect(arguments[0].kind() == ExprKind::IntImm, "a wait for copies needs a constant");
    case CallOp::prefetch:
    case CallOp::address_of:
      expect_arguments(1);
      return expect(arguments[0].kind() == ExprKind::Load, "a prefetch or an address needs an element of a buffer");
  }
}

}  // namespace

Type Expr::type() const { return get()->type; }

Expr::Expr(int value) : Ref(index_constant(value)) {}
Expr::Expr(std::int64_t value) : Ref(index_constant(value)) {}
Expr::Expr(float value) : Expr(FloatImm::make(DType::f32, static_cast<double>(value))) {}
Expr::Expr(double value) : Expr(FloatImm::make(DType::f64, value)) {}

bool is_comparison(BinaryOp op) { return op >= BinaryOp::eq && op <= BinaryOp::ge; }

std::uint32_t check_access(const BufferRef& buffer, const std::vector<Expr>& indices, const Expr& mask) {
  expect(buffer != nullptr, "an access needs a buffer");
  expect(indices.size() == buffer->shape.size() || indices.size() == 1,
         "an access needs one index each dimension, or one");
  std::uint32_t lanes = 1;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    expect(indices[i].defined() && indices[i].type().element() == kIndex, "an index must be of the index type");
    if (i == 0) lanes = indices[i].type().lanes;
    expect(indices[i].type().lanes == lanes, "all indices of an access must have the same number of lanes");
  }
  if (mask) expect(mask.type() == Type(DType::boolean, lanes), "a mask must be bool with as many lanes as the indices");
  return lanes;
}

Expr IntImm::make(Type scalar_type, std::int64_t value) {
  expect(scalar_type.is_scalar() && !scalar_type.is_float(), "an integer constant needs a scalar integer type");
  auto node = new_node<IntImm>();
  node->type = scalar_type;
  node->value = wrap(scalar_type.code, value);
  return std::shared_ptr<const IntImm>(std::move(node));
}

Expr FloatImm::make(Type scalar_type, double value) {
  expect(scalar_type.is_scalar() && scalar_type.is_float(), "a float constant needs a scalar float type");
  auto node = new_node<FloatImm>();
  node->type = scalar_type;
  node->value = round_to(scalar_type.code, value);
  return std::shared_ptr<const FloatImm>(std::move(node));
}

Expr Var::make(std::string name, Type type) {
  auto node = new_node<Var>();
  node->type = type;
  node->name = std::move(name);
  return std::shared_ptr<const Var>(std::move(node));
}

Expr Cast::make(DType to, Expr value) {
  expect(value.defined(), "a cast needs a value");
  if (value.type().code == to) return value;
  auto node = new_node<Cast>();
  node->type = Type(to, value.type().lanes);
  deepen_all(*node, value);
  node->value = std::move(value);
  return std::shared_ptr<const Cast>(std::move(node));
}

Expr Unary::make(UnaryOp op, Expr value) {
  expect(value.defined(), "a unary operation needs a value");
  const Type type = value.type();
  switch (op) {
    case UnaryOp::neg: expect(!type.is_bool(), "bool cannot be negated"); break;
    case UnaryOp::bit_not: expect(type.is_int(), "~ is for integers"); break;
    case UnaryOp::logical_not: expect(type.is_bool(), "! is for bool"); break;
  }
  auto node = new_node<Unary>();
  node->type = type;
  node->op = op;
  deepen_all(*node, value);
  node->value = std::move(value);
  return std::shared_ptr<const Unary>(std::move(node));
}

Expr Binary::make(BinaryOp op, Expr left, Expr right) {
  expect(left && right, "a binary operation needs two values");
  const Type type = left.type();
  if (type != right.type()) {
    throw InternalError("both sides of an operation must have one type, got " + to_text(type) + " and " +
                        to_text(right.type()));
  }
  if (!operand_allowed(op, type)) throw InternalError("this operation is not defined for " + to_text(type));
  auto node = new_node<Binary>();
  node->type = is_comparison(op) ? Type(DType::boolean, type.lanes) : type;
  node->op = op;
  deepen_all(*node, left, right);
  node->left = std::move(left);
  node->right = std::move(right);
  return std::shared_ptr<const Binary>(std::move(node));
}

Expr Select::make(Expr condition, Expr on_true, Expr on_false) {
  return make_choice<Select>(std::move(condition), std::move(on_true), std::move(on_false));
}

Expr IfThenElse::make(Expr condition, Expr on_true, Expr on_false) {
  return make_choice<IfThenElse>(std::move(condition), std::move(on_true), std::move(on_false));
}

Expr Load::make(BufferRef buffer, std::vector<Expr> indices, Expr mask) {
  const std::uint32_t lanes = check_access(buffer, indices, mask);
  auto node = new_node<Load>();
  node->type = Type(buffer->dtype, lanes);
  deepen_all(*node, indices, mask);
  node->buffer = std::move(buffer);
  node->indices = std::move(indices);
  node->mask = std::move(mask);
  return std::shared_ptr<const Load>(std::move(node));
}

Expr Call::make(Type type, Callee callee, std::vector<Expr> arguments) {
  for (const Expr& argument : arguments) {
    expect(argument.defined() && (callee.op == CallOp::dot || argument.type().lanes == type.lanes),
           "a call's arguments must have as many lanes as it");
  }
  check_call(type, callee, arguments);
  auto node = new_node<Call>();
  node->type = type;
  deepen_all(*node, arguments);
  node->callee = std::move(callee);
  node->arguments = std::move(arguments);
  return std::shared_ptr<const Call>(std::move(node));
}

Expr Reduce::make(ReducerRef reducer, std::vector<Expr> sources, std::vector<Axis> axes, Expr condition,
                  std::vector<Expr> init, std::size_t component) {
  expect(reducer != nullptr && component < sources.size(), "a reduction's component must be one of its sources");
  expect(reducer->left.size() == sources.size() && reducer->right.size() == sources.size() &&
             reducer->combine.size() == sources.size() && reducer->identity.size() == sources.size(),
         "a reduction needs as many sources as its reducer combines");
  expect(init.empty() || init.size() == sources.size(), "a reduction needs a start for each source, or none");
  auto node = new_node<Reduce>();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    check_scalar(sources[i], "a reduction's sources must be scalars");
    expect(sources[i].type() == reducer->left[i].type(), "a reduction's source must have its reducer's type");
    expect(init.empty() || init[i].type() == sources[i].type(), "a reduction's start must have its source's type");
  }
  for (const Axis& axis : axes) {
    expect(axis.var.as<Var>() != nullptr && axis.var.type() == kIndex && axis.min.type() == kIndex &&
               axis.extent.type() == kIndex,
           "a reduction axis needs a variable and a range of the index type");
    deepen_all(*node, axis.min, axis.extent);
  }
  if (condition) expect(condition.type() == kBool, "a reduction's condition must be bool");
  node->type = sources[component].type();
  deepen_all(*node, sources, init, condition);
  node->reducer = std::move(reducer);
  node->sources = std::move(sources);
  node->axes = std::move(axes);
  node->condition = std::move(condition);
  node->init = std::move(init);
  node->component = component;
  return std::shared_ptr<const Reduce>(std::move(node));
}

Expr Let::make(Expr var, Expr value, Expr body) {
  expect(var.as<Var>() != nullptr && value && body, "a let needs a variable, a value and a body");
  expect(var.type() == value.type(), "a let's variable must have its value's type");
  auto node = new_node<Let>();
  node->type = body.type();
  deepen_all(*node, value, body);
  node->var = std::move(var);
  node->value = std::move(value);
  node->body = std::move(body);
  return std::shared_ptr<const Let>(std::move(node));
}

Expr Ramp::make(Expr base, Expr stride, std::uint32_t lanes) {
  check_scalar(base, "a ramp's base must be a scalar");
  expect(stride.defined() && stride.type() == base.type() && base.type().is_int(), "a ramp is of one integer type");
  expect(lanes >= 1, "a ramp needs a lane");
  if (lanes == 1) return base;
  auto node = new_node<Ramp>();
  node->type = base.type().with_lanes(lanes);
  deepen_all(*node, base, stride);
  node->base = std::move(base);
  node->stride = std::move(stride);
  return std::shared_ptr<const Ramp>(std::move(node));
}

Expr Broadcast::make(Expr value, std::uint32_t lanes) {
  check_scalar(value, "only a scalar can be broadcast");
  expect(lanes >= 1, "a broadcast needs a lane");
  if (lanes == 1) return value;
  auto node = new_node<Broadcast>();
  node->type = value.type().with_lanes(lanes);
  deepen_all(*node, value);
  node->value = std::move(value);
  return std::shared_ptr<const Broadcast>(std::move(node));
}

Expr VectorReduce::make(ReduceOp op, Expr value) {
  expect(value.defined() && value.type().is_vector(), "a vector reduction needs a vector");
  const bool logic = op == ReduceOp::any || op == ReduceOp::all;
  expect(op != ReduceOp::user && logic == value.type().is_bool(),
         "a vector reduction needs a built-in operation of its type");
  auto node = new_node<VectorReduce>();
  node->type = value.type().element();
  node->op = op;
  deepen_all(*node, value);
  node->value = std::move(value);
  return std::shared_ptr<const VectorReduce>(std::move(node));
}

}  // namespace ferry::ir
