// Expressions other than arithmetic and memory accesses.
#include "crosscompile/ir/arithmetic.h"
#include "crosscompile/ir/interpreter_code.h"
#include "crosscompile/ir/visitor.h"

namespace ferry::ir::interp {
namespace {

// A constant or a scalar variable.
struct SlotCode final : Code {
  std::size_t slot;
  explicit SlotCode(std::size_t s) : slot(s) {}
  Value eval(Frame& frame, std::uint32_t) const override { return frame.slots[slot]; }
  std::size_t read_slot() const override { return slot; }
};

struct VectorVarCode final : Code {
  std::size_t slot;
  explicit VectorVarCode(std::size_t s) : slot(s) {}
  Value eval(Frame& frame, std::uint32_t lane) const override { return frame.slots[slot + lane]; }
};

template <DType D>
struct UnaryCode final : Code {
  UnaryOp op;
  Operand value;
  UnaryCode(UnaryOp o, CodePtr v) : op(o), value(std::move(v)) {}

  Value eval(Frame& frame, std::uint32_t lane) const override {
    using E = Element<D>;
    using T = typename E::Compute;
    const T x = E::get(value.eval(frame, lane));
    if constexpr (D == DType::boolean) {
      return E::put(!x);
    } else if constexpr (is_float(D)) {
      return E::put(-x);
    } else {
      const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
      return E::put(static_cast<T>(op == UnaryOp::neg ? 0 - bits : ~bits));
    }
  }
};

struct SelectCode final : Code {
  Operand condition, on_true, on_false;
  Value eval(Frame& frame, std::uint32_t lane) const override {
    const bool chosen = is_true(condition.eval(frame, lane));
    const Value a = on_true.eval(frame, lane);
    const Value b = on_false.eval(frame, lane);
    return chosen ? a : b;
  }
};

struct IfThenElseCode final : Code {
  Operand condition, on_true, on_false;
  Value eval(Frame& frame, std::uint32_t lane) const override {
    return (is_true(condition.eval(frame, lane)) ? on_true : on_false).eval(frame, lane);
  }
};

struct LetCode final : Code {
  std::size_t slot = 0;
  std::uint32_t lanes = 1;
  // Whether each lane of the body reads only its own lane of the variable.
  bool lane_by_lane = false;
  CodePtr value, body;
  Value eval(Frame& frame, std::uint32_t lane) const override {
    if (lane_by_lane) {
      frame.slots[slot + lane] = value->eval(frame, lane);
    } else {
      for (std::uint32_t i = 0; i < lanes; ++i) frame.slots[slot + i] = value->eval(frame, i);
    }
    return body->eval(frame, lane);
  }
};

struct RampCode final : Code {
  DType type;
  Operand base, stride;
  RampCode(DType t, CodePtr b, CodePtr s) : type(t), base(std::move(b)), stride(std::move(s)) {}
  Value eval(Frame& frame, std::uint32_t lane) const override {
    // The low bits are right in every integer type.
    const std::uint64_t bits = base.eval(frame, 0).bits + lane * stride.eval(frame, 0).bits;
    return with_dtype(type, [&](auto t) -> Value {
      constexpr DType kType = decltype(t)::value;
      if constexpr (is_float(kType) || kType == DType::boolean) {
        throw InternalError("interpreter: a ramp of no integer type");
      } else {
        return Element<kType>::put(static_cast<typename Element<kType>::Compute>(bits));
      }
    });
  }
};

struct BroadcastCode final : Code {
  Operand value;
  explicit BroadcastCode(CodePtr v) : value(std::move(v)) {}
  Value eval(Frame& frame, std::uint32_t) const override { return value.eval(frame, 0); }
};

// Combines the lanes in order, with the reduction's operation.
struct VectorReduceCode final : Code {
  // `combine` combines `slot`, the result so far, with `slot` + 1, the current lane.
  std::size_t slot = 0;
  std::uint32_t lanes = 1;
  CodePtr value;
  CodePtr combine;
  Value eval(Frame& frame, std::uint32_t) const override {
    frame.slots[slot] = value->eval(frame, 0);
    for (std::uint32_t lane = 1; lane < lanes; ++lane) {
      const Value next = value->eval(frame, lane);
      frame.slots[slot + 1] = next;
      frame.slots[slot] = combine->eval(frame, 0);
    }
    return frame.slots[slot];
  }
};

class HasVectorReduce : public Visitor {
 public:
  bool found = false;

 protected:
  void visit_node(const VectorReduce&) override { found = true; }
};

// A visitor, so that a missing node kind is a compile error.
class ExprCompiler : public Visitor {
 public:
  explicit ExprCompiler(Layout& layout) : layout_(layout) {}
  CodePtr result;

 protected:
  void visit_node(const IntImm& node) override {
    result = with_dtype(node.type.code, [&](auto type) -> CodePtr {
      constexpr DType kType = decltype(type)::value;
      return constant(Element<kType>::put(static_cast<typename Element<kType>::Compute>(node.value)));
    });
  }
  void visit_node(const FloatImm& node) override {
    result = with_dtype(node.type.code, [&](auto type) -> CodePtr {
      constexpr DType kType = decltype(type)::value;
      return constant(Element<kType>::put(static_cast<typename Element<kType>::Compute>(node.value)));
    });
  }
  void visit_node(const Var& node) override {
    const std::size_t slot = layout_.slot_of(node);
    if (node.type.is_scalar()) {
      result = std::make_unique<SlotCode>(slot);
    } else {
      result = std::make_unique<VectorVarCode>(slot);
    }
  }
  void visit_node(const Cast& node) override {
    result = compile_cast(node.value.type().code, node.type.code, compile(node.value, layout_));
  }
  void visit_node(const Unary& node) override {
    CodePtr value = compile(node.value, layout_);
    result = with_dtype(node.type.code, [&](auto type) -> CodePtr {
      return std::make_unique<UnaryCode<decltype(type)::value>>(node.op, std::move(value));
    });
  }
  void visit_node(const Binary& node) override {
    CodePtr left = compile(node.left, layout_);
    CodePtr right = compile(node.right, layout_);
    result = compile_binary(node, std::move(left), std::move(right));
  }
  void visit_node(const Select& node) override { choice<SelectCode>(node); }
  void visit_node(const IfThenElse& node) override { choice<IfThenElseCode>(node); }
  void visit_node(const Load& node) override { result = compile_load(node, layout_); }
  void visit_node(const Call& node) override { result = compile_call(node, compile_all(node.arguments, layout_)); }
  void visit_node(const Reduce&) override {
    throw InternalError("interpreter: a reduction is left over from before lowering");
  }
  void visit_node(const Let& node) override {
    auto code = std::make_unique<LetCode>();
    code->lanes = node.value.type().lanes;
    code->value = compile(node.value, layout_);
    code->slot = layout_.define(node.var);
    code->body = compile(node.body, layout_);
    HasVectorReduce looks_across;
    looks_across.visit(node.body);
    code->lane_by_lane = code->lanes == node.type.lanes && !looks_across.found;
    result = std::move(code);
  }
  void visit_node(const Ramp& node) override {
    result = std::make_unique<RampCode>(node.type.code, compile(node.base, layout_), compile(node.stride, layout_));
  }
  void visit_node(const Broadcast& node) override {
    result = std::make_unique<BroadcastCode>(compile(node.value, layout_));
  }
  void visit_node(const VectorReduce& node) override {
    const ReducerRef reducer = make_reducer(node.op, node.type);
    layout_.keep(reducer);
    auto code = std::make_unique<VectorReduceCode>();
    code->lanes = node.value.type().lanes;
    code->value = compile(node.value, layout_);
    code->slot = layout_.define(reducer->left[0]);
    const std::size_t right = layout_.define(reducer->right[0]);
    if (right != code->slot + 1) throw InternalError("interpreter: slots are not in order");
    code->combine = compile(reducer->combine[0], layout_);
    result = std::move(code);
  }

 private:
  CodePtr constant(Value value) { return std::make_unique<SlotCode>(layout_.constant(value)); }

  template <class T, class N>
  void choice(const N& node) {
    auto code = std::make_unique<T>();
    code->condition = compile(node.condition, layout_);
    code->on_true = compile(node.on_true, layout_);
    code->on_false = compile(node.on_false, layout_);
    result = std::move(code);
  }

  Layout& layout_;
};

}  // namespace

std::size_t Layout::define(const Expr& var) {
  const auto [entry, is_new] = slots_.try_emplace(var.get(), slot_count_);
  if (is_new) slot_count_ += var.type().lanes;
  return entry->second;
}

std::size_t Layout::constant(Value value) {
  const auto [entry, is_new] = constants_.try_emplace(value.bits, slot_count_);
  if (is_new) ++slot_count_;
  return entry->second;
}

std::vector<Value> Layout::slots() const {
  std::vector<Value> slots(slot_count_);
  for (const auto& [bits, slot] : constants_) slots[slot].bits = bits;
  return slots;
}

std::size_t Layout::slot_of(const Var& var) const {
  const auto found = slots_.find(&var);
  if (found == slots_.end()) throw InternalError("interpreter: '" + var.name + "' is used where it is not defined");
  return found->second;
}

std::size_t Layout::buffer(const Buffer& buffer) {
  return buffers_.try_emplace(&buffer, buffers_.size()).first->second;
}

CodePtr compile(const Expr& expr, Layout& layout) {
  if (!expr.defined()) throw InternalError("interpreter: an expression is missing");
  ExprCompiler compiler(layout);
  compiler.visit(expr);
  return std::move(compiler.result);
}

std::vector<CodePtr> compile_all(const std::vector<Expr>& exprs, Layout& layout) {
  std::vector<CodePtr> codes;
  codes.reserve(exprs.size());
  for (const Expr& expr : exprs) codes.push_back(compile(expr, layout));
  return codes;
}

}  // namespace ferry::ir::interp
