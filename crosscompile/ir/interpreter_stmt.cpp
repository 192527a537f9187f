// Control flow.
#include "crosscompile/ir/async_copy.h"
#include "crosscompile/ir/barrier.h"
#include "crosscompile/ir/interpreter_code.h"
#include "crosscompile/ir/prefetch.h"
#include "crosscompile/ir/visitor.h"

namespace ferry::ir::interp {
namespace {

struct SerialLoop final : Action {
  std::size_t slot = 0;
  CodePtr min, extent;
  ActionPtr body;

  std::int32_t run(Frame& frame) const override {
    const std::int64_t first = index_of(min->eval(frame, 0));
    const std::int64_t count = index_of(extent->eval(frame, 0));
    for (std::int64_t i = 0; i < count; ++i) {
      frame.slots[slot] = Value::of(static_cast<std::uint64_t>(first) + static_cast<std::uint64_t>(i));
      if (const std::int32_t result = body->run(frame); result != 0) return result;
    }
    return 0;
  }
};

struct BlockAction final : Action {
  std::vector<ActionPtr> body;
  std::int32_t run(Frame& frame) const override {
    for (const ActionPtr& action : body) {
      if (const std::int32_t result = action->run(frame); result != 0) return result;
    }
    return 0;
  }
};

struct IfAction final : Action {
  CodePtr condition;
  ActionPtr on_true, on_false;
  std::int32_t run(Frame& frame) const override {
    const ActionPtr& chosen = is_true(condition->eval(frame, 0)) ? on_true : on_false;
    return chosen == nullptr ? 0 : chosen->run(frame);
  }
};

struct LetAction final : Action {
  std::size_t slot = 0;
  std::uint32_t lanes = 1;
  CodePtr value;
  ActionPtr body;
  std::int32_t run(Frame& frame) const override {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) frame.slots[slot + lane] = value->eval(frame, lane);
    return body->run(frame);
  }
};

struct AssertAction final : Action {
  CodePtr condition;
  std::int32_t result = 0;
  std::int32_t run(Frame& frame) const override { return is_true(condition->eval(frame, 0)) ? 0 : result; }
};

struct NothingAction final : Action {
  std::int32_t run(Frame&) const override { return 0; }
};

struct EvaluateAction final : Action {
  CodePtr value;
  std::uint32_t lanes = 1;
  std::int32_t run(Frame& frame) const override {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) value->eval(frame, lane);
    return 0;
  }
};

class StmtCompiler : public Visitor {
 public:
  explicit StmtCompiler(Layout& layout) : layout_(layout) {}
  ActionPtr result;

 protected:
  void visit_node(const Store& node) override { result = compile_store(node, layout_); }
  void visit_node(const Allocate& node) override { result = compile_allocate(node, layout_); }
  void visit_node(const For& node) override {
    if (node.for_kind == ForKind::parallel || is_block(node.for_kind)) {
      result = compile_parallel(node, layout_);
    } else if (is_thread(node.for_kind) && !layout_.of_thread) {
      result = compile_threads(node, layout_);
    } else {
      auto action = std::make_unique<SerialLoop>();
      action->min = compile(node.min, layout_);
      action->extent = compile(node.extent, layout_);
      action->slot = layout_.define(node.var);
      action->body = compile(node.body, layout_);
      result = std::move(action);
    }
  }
  void visit_node(const Block& node) override {
    auto action = std::make_unique<BlockAction>();
    for (const Stmt& stmt : node.body) action->body.push_back(compile(stmt, layout_));
    result = std::move(action);
  }
  void visit_node(const If& node) override {
    auto action = std::make_unique<IfAction>();
    action->condition = compile(node.condition, layout_);
    action->on_true = compile(node.on_true, layout_);
    if (node.on_false.defined()) action->on_false = compile(node.on_false, layout_);
    result = std::move(action);
  }
  void visit_node(const LetStmt& node) override {
    auto action = std::make_unique<LetAction>();
    action->lanes = node.var.type().lanes;
    action->value = compile(node.value, layout_);
    action->slot = layout_.define(node.var);
    action->body = compile(node.body, layout_);
    result = std::move(action);
  }
  void visit_node(const Assert& node) override {
    auto action = std::make_unique<AssertAction>();
    action->condition = compile(node.condition, layout_);
    action->result = static_cast<std::int32_t>(node.message) + 1;
    result = std::move(action);
  }
  void visit_node(const Evaluate& node) override {
    const auto* call = node.value.as<Call>();
    result = call == nullptr ? compile_value(node.value) : compile_call_statement(node, call->callee.op);
  }
  void visit_node(const InstructionStmt& node) override {
    switch (node.instruction) {
      case Instruction::copy_async: result = compile_async_copy(node, layout_); return;
      case Instruction::mma_m16n8k16:
      case Instruction::tile_dot:
      case Instruction::tile_sums: result = compile(node.definition, layout_); return;
    }
  }

 private:
  ActionPtr compile_value(const Expr& value) {
    auto action = std::make_unique<EvaluateAction>();
    action->value = compile(value, layout_);
    action->lanes = value.type().lanes;
    return action;
  }

  ActionPtr compile_call_statement(const Evaluate& node, CallOp op) {
    switch (op) {
      case CallOp::barrier: throw InternalError("interpreter: a barrier stands outside of the loops over threads");
      case CallOp::prefetch: return std::make_unique<NothingAction>();
      case CallOp::commit_copies:
      case CallOp::wait_copies: return compile_copy_order(node);
      case CallOp::math:
      case CallOp::external:
      case CallOp::intrinsic:
      case CallOp::bitcast:
      case CallOp::dot:
      case CallOp::scale:
      case CallOp::shuffle_xor:
      case CallOp::address_of: return compile_value(node.value);
    }
    throw InternalError("interpreter: unknown operation");
  }

  Layout& layout_;
};

}  // namespace

ActionPtr compile(const Stmt& stmt, Layout& layout) {
  StmtCompiler compiler(layout);
  compiler.visit(stmt);
  if (compiler.result == nullptr) throw InternalError("interpreter: a statement is missing");
  return std::move(compiler.result);
}

}  // namespace ferry::ir::interp
