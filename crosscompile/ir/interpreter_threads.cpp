// The threads of a GPU's block: each runs alone from one barrier to the next, one thread after the other in a shuffled
// order. Control flow around a barrier or a shuffle must be uniform: all threads run such a loop equally often and
// agree on such a condition.
#include "crosscompile/ir/barrier.h"
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/ir/interpreter_code.h"
#include "crosscompile/ir/shuffle.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace ferry::ir::interp {
namespace {

// State private to a thread.
struct Member {
  std::vector<Value> slots;
  std::vector<BoundBuffer> buffers;
  AsyncStores async_stores;
};

// The threads of one block. The variables of the running thread are in the frame.
class Crew {
 public:
  Crew(Frame& frame, std::size_t threads, const std::vector<std::size_t>& own_buffers)
      : frame_(frame), own_buffers_(own_buffers), members_(threads) {
    for (Member& member : members_) {
      member.slots = frame.slots;
      member.buffers.resize(own_buffers.size());
    }
    // A step that is coprime to the count visits all threads.
    step_ = std::max<std::size_t>(1, threads * 5 / 8);
    while (std::gcd(step_, threads) != 1) ++step_;
  }

  Frame& frame() { return frame_; }
  std::vector<Member>& members() { return members_; }

  // Runs `what` for every thread; it returns what the kernel would return, or 0 to continue.
  template <class What>
  std::int32_t each(const What& what) {
    std::size_t thread = members_.size() / 2;
    for (std::size_t done = 0; done < members_.size(); ++done, thread = (thread + step_) % members_.size()) {
      swap(thread);
      const std::int32_t result = what();
      swap(thread);
      if (result != 0) return result;
    }
    return 0;
  }

  // Returns a value that must be the same for all threads.
  std::int64_t common(const Code& code, const char* what) {
    std::int64_t value = 0;
    bool is_first = true;
    each([&] {
      const std::int64_t own = index_of(code.eval(frame_, 0));
      if (!is_first && own != value)
        throw InterpreterError(std::string("a barrier or a shuffle stands inside of ") + what +
                               " that differs from thread to thread");
      value = own;
      is_first = false;
      return 0;
    });
    return value;
  }

 private:
  void swap(std::size_t thread) {
    Member& member = members_[thread];
    std::swap(frame_.slots, member.slots);
    std::swap(frame_.async_stores, member.async_stores);
    for (std::size_t i = 0; i < own_buffers_.size(); ++i) std::swap(frame_.buffers[own_buffers_[i]], member.buffers[i]);
    frame_.clock.thread = static_cast<std::uint32_t>(thread);
  }

  Frame& frame_;
  const std::vector<std::size_t>& own_buffers_;
  std::vector<Member> members_;
  std::size_t step_ = 1;
};

// An action of all threads together.
struct Step {
  virtual ~Step() = default;
  virtual std::int32_t run(Crew& crew) const = 0;
};
using StepPtr = std::unique_ptr<const Step>;

struct OwnStep final : Step {
  ActionPtr action;
  std::int32_t run(Crew& crew) const override {
    return crew.each([&] { return action->run(crew.frame()); });
  }
};

struct BarrierStep final : Step {
  std::int32_t run(Crew& crew) const override {
    crew.frame().clock.barrier = crew.frame().clock.tick();
    return 0;
  }
};

struct ShuffleStep final : Step {
  CodePtr value, mask;
  Expr received = {};  // a member, because the layout identifies it by address
  std::size_t slot = 0;
  ActionPtr store;
  std::int32_t run(Crew& crew) const override {
    const std::int64_t mask_value = crew.common(*mask, "a mask");
    if (mask_value < 0 || mask_value >= kWarp)
      throw InterpreterError("a shuffle's mask is " + std::to_string(mask_value) + ", and a warp has " +
                             std::to_string(kWarp) + " threads");
    std::vector<Value> sent(crew.members().size());
    crew.each([&] {
      sent[crew.frame().clock.thread] = value->eval(crew.frame(), 0);
      return 0;
    });
    return crew.each([&] {
      const std::size_t other = crew.frame().clock.thread ^ static_cast<std::size_t>(mask_value);
      crew.frame().slots[slot] = other < sent.size() ? sent[other] : Value::of(kNobody);
      return store->run(crew.frame());
    });
  }

 private:
  static constexpr std::uint64_t kNobody = 0xcbcbcbcbcbcbcbcb;
};

struct BlockStep final : Step {
  std::vector<StepPtr> steps;
  std::int32_t run(Crew& crew) const override {
    for (const StepPtr& step : steps) {
      if (const std::int32_t result = step->run(crew); result != 0) return result;
    }
    return 0;
  }
};

struct LoopStep final : Step {
  std::size_t slot = 0;
  CodePtr min, extent;
  StepPtr body;
  std::int32_t run(Crew& crew) const override {
    const std::int64_t first = crew.common(*min, "a loop"), count = crew.common(*extent, "a loop");
    for (std::int64_t i = 0; i < count; ++i) {
      for (Member& member : crew.members())
        member.slots[slot] = Value::of(static_cast<std::uint64_t>(first) + static_cast<std::uint64_t>(i));
      if (const std::int32_t result = body->run(crew); result != 0) return result;
    }
    return 0;
  }
};

struct IfStep final : Step {
  CodePtr condition;
  StepPtr on_true, on_false;
  std::int32_t run(Crew& crew) const override {
    const StepPtr& chosen = crew.common(*condition, "a condition") != 0 ? on_true : on_false;
    return chosen == nullptr ? 0 : chosen->run(crew);
  }
};

struct LetStep final : Step {
  std::size_t slot = 0;
  CodePtr value;
  StepPtr body;
  std::int32_t run(Crew& crew) const override {
    crew.each([&] {
      crew.frame().slots[slot] = value->eval(crew.frame(), 0);
      return 0;
    });
    return body->run(crew);
  }
};

struct AllocateStep final : Step {
  std::size_t slot = 0;
  bool is_own = false;
  ShapeCode shape;
  StepPtr body;
  AllocateStep(const Buffer& buffer, Layout& layout)
      : slot(layout.buffer(buffer)), is_own(buffer.scope == Scope::local), shape(buffer, layout) {}
  std::int32_t run(Crew& crew) const override {
    const auto make = [&] {
      BoundBuffer& bound = crew.frame().buffers[slot];
      shape.eval(crew.frame(), bound);
      allocate(bound, crew.frame().clock);
      return 0;
    };
    if (is_own) {
      crew.each(make);
    } else {
      make();
    }
    return body->run(crew);
  }
};

class StepCompiler {
 public:
  explicit StepCompiler(Layout& layout) : layout_(layout) {}
  std::vector<std::size_t> own_buffers;

  StepPtr compile_step(const Stmt& stmt) {
    if (!is_collective(stmt)) {
      auto step = std::make_unique<OwnStep>();
      step->action = compile(stmt, layout_);
      return step;
    }
    if (stmt.as<Evaluate>() != nullptr) return std::make_unique<BarrierStep>();
    if (const Store* store = stmt.as<Store>()) return compile_shuffle(*store);
    if (const Block* block = stmt.as<Block>()) return compile_block(*block);
    if (const For* loop = stmt.as<For>()) {
      auto step = std::make_unique<LoopStep>();
      step->min = compile(loop->min, layout_);
      step->extent = compile(loop->extent, layout_);
      step->slot = layout_.define(loop->var);
      step->body = compile_step(loop->body);
      return step;
    }
    if (const If* choice = stmt.as<If>()) {
      auto step = std::make_unique<IfStep>();
      step->condition = compile(choice->condition, layout_);
      step->on_true = compile_step(choice->on_true);
      if (choice->on_false.defined()) step->on_false = compile_step(choice->on_false);
      return step;
    }
    if (const LetStmt* let = stmt.as<LetStmt>()) {
      auto step = std::make_unique<LetStep>();
      step->value = compile(let->value, layout_);
      step->slot = layout_.define(let->var);
      step->body = compile_step(let->body);
      return step;
    }
    const Allocate& allocation = *stmt.as<Allocate>();
    auto step = std::make_unique<AllocateStep>(*allocation.buffer, layout_);
    if (step->is_own) own_buffers.push_back(step->slot);
    step->body = compile_step(allocation.body);
    return step;
  }

 private:
  StepPtr compile_shuffle(const Store& node) {
    const Call& shuffle = *shuffle_of(node);
    auto step = std::make_unique<ShuffleStep>();
    step->value = compile(shuffle.arguments.at(0), layout_);
    step->mask = compile(shuffle.arguments.at(1), layout_);
    step->received = Var::make("received", shuffle.type);
    step->slot = layout_.define(step->received);
    step->store = compile(Store::make(node.buffer, node.indices, step->received), layout_);
    return step;
  }

  // Statements between two barriers form one piece, which each thread runs without interruption.
  StepPtr compile_block(const Block& block) {
    auto steps = std::make_unique<BlockStep>();
    std::vector<Stmt> piece;
    const auto finish_piece = [&] {
      if (!piece.empty()) steps->steps.push_back(compile_step(Block::make(std::move(piece))));
      piece.clear();
    };
    for (const Stmt& stmt : block.body) {
      if (!is_collective(stmt)) {
        piece.push_back(stmt);
        continue;
      }
      finish_piece();
      steps->steps.push_back(compile_step(stmt));
    }
    finish_piece();
    return steps;
  }

  Layout& layout_;
};

struct Threads final : Action {
  LoopNest loops;
  std::vector<std::size_t> own_buffers;
  StepPtr body;
  Threads(const For& node, Layout& layout) : loops(node, is_thread, layout) {
    layout.of_thread = true;
    StepCompiler compiler(layout);
    body = compiler.compile_step(loops.body());
    own_buffers = std::move(compiler.own_buffers);
    layout.of_thread = false;
  }

  std::int32_t run(Frame& frame) const override {
    const LoopNest::Bounds bounds =
        loops.bounds(frame, kMaxThreads, "a block has more threads than can be interpreted");
    if (bounds.count == 0) return 0;
    Crew crew(frame, static_cast<std::size_t>(bounds.count), own_buffers);
    for (std::size_t thread = 0; thread < crew.members().size(); ++thread)
      loops.set(static_cast<std::int64_t>(thread), bounds, crew.members()[thread].slots);
    frame.clock.barrier = frame.clock.tick();
    const std::int32_t result = body->run(crew);
    frame.clock.tick();
    frame.clock.barrier = kNever;
    return result;
  }

 private:
  static constexpr std::int64_t kMaxThreads = 1 << 16;
};

}  // namespace

ActionPtr compile_threads(const For& node, Layout& layout) { return std::make_unique<Threads>(node, layout); }

}  // namespace ferry::ir::interp
