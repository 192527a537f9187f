// Control flow.
#include "crosscompile/ir/interpreter_code.h"
#include "crosscompile/ir/prefetch.h"
#include "crosscompile/ir/visitor.h"

#include <numeric>

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

// One iteration after the other in a shuffled order. The memory notes which iteration of the outermost parallel loop
// touched what; an inner one runs on its thread.
struct ParallelLoop final : Action {
  std::size_t slot = 0;
  CodePtr min, extent;
  ActionPtr body;

  std::int32_t run(Frame& frame) const override {
    const std::int64_t first = index_of(min->eval(frame, 0));
    const std::int64_t count = index_of(extent->eval(frame, 0));
    if (count <= 0) return 0;
    const bool outermost = frame.clock.loop_began == kNever;
    const Stamp caller = frame.workspaces.thread_id;
    if (outermost) frame.clock.loop_began = frame.clock.tick();
    // Steps of a size that has no factor in common with the count visit every iteration once.
    std::int64_t step = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(count) * 0.618));
    while (std::gcd(step, count) != 1) ++step;
    std::int64_t i = static_cast<std::int64_t>(next_random(frame) % static_cast<std::uint64_t>(count));
    std::int32_t result = 0;
    for (std::int64_t done = 0; done < count && result == 0; ++done) {
      if (outermost) {
        frame.clock.iteration_began = frame.clock.tick();
        frame.workspaces.thread_id = frame.clock.now;
      }
      frame.slots[slot] = Value::of(static_cast<std::uint64_t>(first) + static_cast<std::uint64_t>(i));
      result = body->run(frame);
      i = i >= count - step ? i - (count - step) : i + step;
    }
    if (outermost) {
      frame.clock.tick();
      frame.clock.loop_began = frame.clock.iteration_began = kNever;
      frame.workspaces.thread_id = caller;
    }
    return result;
  }

 private:
  static std::uint64_t next_random(Frame& frame) {
    frame.random ^= frame.random << 13;
    frame.random ^= frame.random >> 7;
    frame.random ^= frame.random << 17;
    return frame.random;
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
    if (node.for_kind == ForKind::parallel) {
      loop<ParallelLoop>(node);
    } else {
      loop<SerialLoop>(node);
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
    if (prefetched(node) != nullptr) {
      result = std::make_unique<NothingAction>();
      return;
    }
    auto action = std::make_unique<EvaluateAction>();
    action->value = compile(node.value, layout_);
    action->lanes = node.value.type().lanes;
    result = std::move(action);
  }

 private:
  template <class T>
  void loop(const For& node) {
    auto action = std::make_unique<T>();
    action->min = compile(node.min, layout_);
    action->extent = compile(node.extent, layout_);
    action->slot = layout_.define(node.var);
    action->body = compile(node.body, layout_);
    result = std::move(action);
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
