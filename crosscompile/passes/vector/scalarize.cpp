#include "crosscompile/passes/vector/scalarize.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/analysis/ranges.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/prefetch.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/uses.h"
#include "crosscompile/passes/vector/lane.h"
#include "ferry/operators.h"

#include <algorithm>
#include <optional>

namespace ferry::passes {
namespace {

using namespace ir;

bool has_call(const Expr& expr) { return contains(expr, {ExprKind::Call}); }

// Returns the outcome of a comparison with a constant when the other side's type decides it: compilers warn about such
// comparisons.
std::optional<bool> always(const Binary& node) {
  const Type type = node.left.type();
  if (!type.is_int() || !type.is_scalar()) return std::nullopt;
  if (node.left.as<IntImm>() == nullptr && node.right.as<IntImm>() == nullptr) return std::nullopt;
  const analysis::ValueRanges nothing_known;
  analysis::ValueRange a = analysis::range_of(nothing_known, node.left),
                       b = analysis::range_of(nothing_known, node.right);
  if (type.code == DType::u64) {
    // For u64, the only known fact is that values are not negative.
    if (!is_constant(node.left, 0) && !is_constant(node.right, 0)) return std::nullopt;
    a.min = std::max<std::int64_t>(a.min, 0);
    b.min = std::max<std::int64_t>(b.min, 0);
  }
  const bool below = a.max<b.min, above = a.min> b.max, not_above = a.max <= b.min, not_below = a.min >= b.max;
  switch (node.op) {
    case BinaryOp::lt: return below || not_below ? std::optional(below) : std::nullopt;
    case BinaryOp::le: return not_above || above ? std::optional(not_above) : std::nullopt;
    case BinaryOp::gt: return above || not_above ? std::optional(above) : std::nullopt;
    case BinaryOp::ge: return not_below || below ? std::optional(not_below) : std::nullopt;
    case BinaryOp::eq: return below || above ? std::optional(false) : std::nullopt;
    case BinaryOp::ne: return below || above ? std::optional(true) : std::nullopt;
    default: return std::nullopt;
  }
}

// Recognises base, base + stride, ... with a stride that is not 0.
bool all_lanes_differ(const Expr& index) {
  const auto* ramp = index.as<Ramp>();
  const std::int64_t* stride = ramp == nullptr ? nullptr : as_int(ramp->stride);
  return stride != nullptr && *stride != 0;
}

BufferRef lanes_buffer(const std::string& name, Type type) {
  auto buffer = std::make_shared<Buffer>();
  buffer->name = name;
  buffer->dtype = type.code;
  buffer->shape = {Expr(std::int64_t{type.lanes})};
  buffer->scope = Scope::local;
  return buffer;
}

// Returns whether the store, written lane by lane, would disturb its own reads: later lanes would read elements that
// earlier ones wrote.
bool is_disturbed(const Store& store) {
  const Expr& index = store.indices[0];
  const bool lanes_differ = all_lanes_differ(index);
  bool found = false;
  for (const Expr& expr : {index, store.value, store.mask}) {
    analysis::for_each_load(expr, [&](const Load& load) {
      found = found || (load.buffer == store.buffer && !(lanes_differ && equal(load.indices[0], index)));
    });
  }
  return found;
}

Stmt over_lanes(std::uint32_t lanes, const Expr& lane, Stmt body) {
  return For::make(lane, Expr(0), Expr(std::int64_t{lanes}), ForKind::vectorized, std::move(body));
}

class WithoutStores : public Mutator {
 public:
  explicit WithoutStores(const BufferRef& buffer) : buffer_(buffer) {}

 protected:
  using Mutator::mutate_node;
  Stmt mutate_node(const Store& node, const Stmt& self) override { return node.buffer == buffer_ ? Stmt() : self; }

 private:
  const BufferRef& buffer_;
};

class Scalarizer : public Mutator {
 public:
  bool removed = false;  // whether the removed code may have held another buffer's only reader

 protected:
  using Mutator::mutate_node;

  // Removes buffers that are never read, with the stores to them.
  Stmt mutate_node(const Allocate& node, const Stmt& self) override {
    const Stmt result = Mutator::mutate_node(node, self);
    const auto* allocate = result.as<Allocate>();
    if (allocate == nullptr) return result;
    if (analysis::reads(allocate->body, allocate->buffer.get())) return result;
    removed = true;
    return WithoutStores(allocate->buffer).mutate(allocate->body);
  }

  Expr mutate_node(const VectorReduce& node, const Expr&) override { return mutate(reduced(node)); }

  Expr mutate_node(const Binary& node, const Expr& self) override {
    if (const auto outcome = always(node)) return IntImm::make(kBool, *outcome ? 1 : 0);
    return Mutator::mutate_node(node, self);
  }

  Expr mutate_node(const Call& node, const Expr& self) override {
    if (node.callee.op != CallOp::dot) return Mutator::mutate_node(node, self);
    return mutate(dot_lane(node, Expr(0)));
  }

  Expr mutate_node(const Let& node, const Expr&) override {
    if (node.value.type().is_vector()) {
      // Only sums over lanes in the body can use it.
      return mutate(substitute(node.body, Substitution{{node.var.get(), node.value}}));
    }
    const Expr value = mutate(node.value), body = mutate(node.body);
    if (!uses_var(body, node.var) && !has_call(value)) return body;
    return Let::make(node.var, value, body);
  }

  Stmt mutate_node(const LetStmt& node, const Stmt&) override {
    if (node.value.type().is_vector()) return vector_let(node);
    const Expr value = mutate(node.value);
    const Stmt body = mutate(node.body);
    if (!body || (!uses_var(body, node.var) && !has_call(value))) return body;
    return LetStmt::make(node.var, value, body);
  }

  Stmt mutate_node(const Store& node, const Stmt& self) override {
    if (node.value.type().is_scalar()) return Mutator::mutate_node(node, self);
    const std::uint32_t lanes = node.value.type().lanes;
    if (!is_disturbed(node)) {
      const Expr lane = Var::make("lane");
      return over_lanes(lanes, lane, store_lane(node, lane, lane_of(node.value, lane)));
    }
    return by_way_of_copies(node);
  }

  Stmt mutate_node(const Evaluate& node, const Stmt& self) override {
    if (prefetched(node) != nullptr) return {};
    if (node.value.type().is_scalar()) return Mutator::mutate_node(node, self);
    const Expr lane = Var::make("lane");
    return over_lanes(node.value.type().lanes, lane, Evaluate::make(mutate(lane_of(node.value, lane))));
  }

 private:
  Stmt store_lane(const Store& node, const Expr& lane, const Expr& value) {
    return Store::make(node.buffer, {mutate(lane_of(node.indices[0], lane))}, mutate(value),
                       node.mask.defined() ? mutate(lane_of(node.mask, lane)) : Expr());
  }

  // Reads all lanes before it writes the first.
  Stmt by_way_of_copies(const Store& node) {
    const std::uint32_t lanes = node.value.type().lanes;
    const BufferRef values = lanes_buffer("values", node.value.type());
    const BufferRef places = lanes_buffer("places", node.indices[0].type());
    const BufferRef chosen = lanes_buffer("chosen", Type(DType::boolean, lanes));
    const Expr lane = Var::make("lane");
    std::vector<Stmt> read{Store::make(values, {lane}, mutate(lane_of(node.value, lane))),
                           Store::make(places, {lane}, mutate(lane_of(node.indices[0], lane)))};
    if (node.mask.defined()) read.push_back(Store::make(chosen, {lane}, mutate(lane_of(node.mask, lane))));
    const Expr again = Var::make("lane");
    const Stmt write = Store::make(node.buffer, {Load::make(places, {again})}, Load::make(values, {again}),
                                   node.mask.defined() ? Load::make(chosen, {again}) : Expr());
    Stmt all = Block::make({over_lanes(lanes, lane, Block::make(std::move(read))), over_lanes(lanes, again, write)});
    if (node.mask.defined()) all = Allocate::make(chosen, std::move(all));
    return Allocate::make(values, Allocate::make(places, std::move(all)));
  }

  Stmt vector_let(const LetStmt& node) {
    const Type type = node.value.type();
    const BufferRef buffer = lanes_buffer(node.var.as<Var>()->name, type);
    const Expr lane = Var::make("lane");
    const Stmt fill = over_lanes(type.lanes, lane, Store::make(buffer, {lane}, mutate(lane_of(node.value, lane))));
    const Expr value = Load::make(buffer, {Ramp::make(Expr(0), Expr(1), type.lanes)});
    const Stmt body = mutate(substitute(node.body, Substitution{{node.var.get(), value}}));
    return body ? Allocate::make(buffer, Block::make({fill, body})) : body;
  }
};

}  // namespace

Function scalarize(Function function) {
  for (bool again = true; again;) {
    Scalarizer scalarizer;
    Stmt body = scalarizer.mutate(function.body);
    function.body = body ? std::move(body) : Block::make({});
    again = scalarizer.removed;
  }
  return function;
}

}  // namespace ferry::passes
