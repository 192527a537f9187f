// A forward dataflow analysis over the statements of a kernel. A state is the set of accesses that are pending, which
// means that no barrier has followed them. Each statement is summarised once, from a start where nothing is pending:
// its accesses, those that are pending at its end, and whether it can be passed without a barrier. The effect of a
// statement on any state follows from its summary, because accesses that are pending at its start and conflict with one
// inside get a barrier before the statement, and others cause no barrier inside. A loop composes the summaries of its
// body's statements until no further iteration can conflict, so the time for a nest of loops grows with its size, not
// exponentially with its depth.
#include "crosscompile/passes/gpu/insert_barriers.h"

#include "crosscompile/ir/async_copy.h"
#include "crosscompile/ir/barrier.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/shuffle.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/uses.h"
#include "crosscompile/passes/gpu/shared_accesses.h"
#include "crosscompile/passes/gpu/thread_group.h"
#include "ferry/operators.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ferry::passes {
namespace {

using namespace ir;

// The accesses before a place in a kernel.
struct State {
  SharedAccesses pending;    // since the last barrier
  SharedAccesses in_flight;  // asynchronous stores, which may complete as late as at any wait that follows
  bool is_passed = true;     // what was pending at the start is pending here
  bool has_waited = false;   // what was in flight at the start is pending here
};

void cross_barrier(State& state) {
  state.pending.clear();
  state.is_passed = state.has_waited = false;
}

// A statement and its summary. Blocks are lists of steps.
struct Step {
  Stmt stmt;
  std::vector<Step> body, otherwise;  // otherwise: the other side of an If
  bool matters = false;               // it accesses shared memory or synchronises threads
  bool waits = false;                 // it contains a wait for asynchronous stores
  bool needs_barrier = false;         // before it

  bool is_summarised = false;
  SharedAccesses own;
  State end;                 // from a start where nothing is pending
  SharedAccesses in_flight;  // at the starts that the summary covers
};

bool is_wait(const Stmt& stmt) {
  const Evaluate* order = stmt.as<Evaluate>();
  return order != nullptr && groups_left(*order).has_value();
}

std::vector<Step> steps_of(const Stmt& stmt, const SharedAccessFinder& accesses);

Step step_of(const Stmt& stmt, const SharedAccessFinder& accesses) {
  Step step;
  step.stmt = stmt;
  if (const For* loop = stmt.as<For>()) {
    step.body = steps_of(loop->body, accesses);
  } else if (const If* choice = stmt.as<If>()) {
    step.body = steps_of(choice->on_true, accesses);
    step.otherwise = steps_of(choice->on_false, accesses);
  } else if (const LetStmt* let = stmt.as<LetStmt>()) {
    step.body = steps_of(let->body, accesses);
  } else if (const Allocate* allocation = stmt.as<Allocate>()) {
    step.body = steps_of(allocation->body, accesses);
  } else if (const InstructionStmt* intrinsic = stmt.as<InstructionStmt>()) {
    step.body = steps_of(intrinsic->definition, accesses);
  }
  const auto waits = [](const Step& inner) { return inner.waits; };
  step.waits = is_wait(stmt) || std::any_of(step.body.begin(), step.body.end(), waits) ||
               std::any_of(step.otherwise.begin(), step.otherwise.end(), waits);
  step.matters = step.waits || is_collective(stmt) || !accesses.in(stmt, {}).empty();
  return step;
}

std::vector<Step> steps_of(const Stmt& stmt, const SharedAccessFinder& accesses) {
  std::vector<Step> steps;
  if (!stmt.defined()) return steps;
  if (const Block* block = stmt.as<Block>()) {
    for (const Stmt& step : block->body) steps.push_back(step_of(step, accesses));
  } else {
    steps.push_back(step_of(stmt, accesses));
  }
  return steps;
}

// Finds the steps before which a barrier is needed.
class BarrierPlan {
 public:
  explicit BarrierPlan(std::span<const ThreadAxis> axes) : accesses_(axes) {
    for (const ThreadAxis& axis : axes)
      if (axis.extent != 1) differing_.push_back(axis.var);
  }

  std::vector<Step> plan(const Stmt& stmt) {
    std::vector<Step> steps = steps_of(stmt, accesses_);
    State state;
    flow(steps, state);
    return steps;
  }

 private:
  void flow(std::vector<Step>& steps, State& state) {
    for (Step& step : steps)
      if (step.matters) flow(step, state);
  }

  // Applies a step to the state, and puts a barrier before it where the state requires one.
  void flow(Step& step, State& state) {
    if (step.needs_barrier) cross_barrier(state);
    if (is_wait(step.stmt)) {
      add_once(state.pending, in_flight_);
      add_once(state.pending, state.in_flight);
      state.has_waited = true;
      return;
    }
    if (!step.is_summarised || has_new_in_flight(step, state)) summarise(step, state);
    if (const SharedAccess* cause = accesses_.conflict(state.pending, step.own)) {
      if (!is_loop_behind_barrier(step, state.pending)) {
        expect_common(*cause);
        step.needs_barrier = true;
        cross_barrier(state);
      }
    }
    if (!step.end.is_passed) cross_barrier(state);
    if (step.end.has_waited) {
      add_once(state.pending, in_flight_);
      add_once(state.pending, state.in_flight);
      state.has_waited = true;
    }
    add_once(state.pending, step.end.pending);
    add_once(state.in_flight, step.end.in_flight);
  }

  // Returns whether a wait inside may complete asynchronous stores that the summary does not cover and that matter to
  // the step.
  bool has_new_in_flight(const Step& step, const State& state) const {
    if (!step.waits) return false;
    const auto is_new = [&](const SharedAccess& store) {
      return !contains(step.in_flight, store) && accesses_.conflict({store}, step.own) != nullptr;
    };
    return std::any_of(in_flight_.begin(), in_flight_.end(), is_new) ||
           std::any_of(state.in_flight.begin(), state.in_flight.end(), is_new);
  }

  void summarise(Step& step, const State& start) {
    const SharedAccesses outer = in_flight_;
    add_once(in_flight_, start.in_flight);
    if (step.waits) add_once(step.in_flight, in_flight_);
    step.end = end_of(step);
    step.own = accesses_.in(step.stmt, only_in_);
    step.is_summarised = true;
    in_flight_ = outer;
  }

  // Returns the state at the end of a step from a start where nothing is pending.
  State end_of(Step& step) {
    State end;
    const bool was_divided = divided_;
    if (const For* loop = step.stmt.as<For>()) {
      divided_ = divided_ || differs(loop->min) || differs(loop->extent);
      accesses_.define(*loop);
      const std::int64_t iterations = accesses_.distinct_iterations(*loop, only_in_);
      for (std::int64_t i = 0; i < iterations; ++i) {
        for (SharedAccesses* accesses : {&end.pending, &end.in_flight})
          if (i > 0) enter_next_iteration(*accesses, loop->var);
        flow(step.body, end);
      }
      for (SharedAccesses* accesses : {&end.pending, &end.in_flight}) leave_loop(*accesses, loop->var);
      // A loop whose trip count may be zero may have no barrier.
      const std::int64_t* extent = as_int(loop->extent);
      end.is_passed = end.is_passed || extent == nullptr || *extent <= 0;
    } else if (const If* choice = step.stmt.as<If>()) {
      divided_ = divided_ || differs(choice->condition);
      const OnlyIteration outer = only_in_;
      if (const OnlyIteration known = accesses_.only_iteration(choice->condition); known.var.defined())
        only_in_ = known;
      flow(step.body, end);
      only_in_ = outer;
      State other;
      other.in_flight = end.in_flight;
      flow(step.otherwise, other);
      add_once(end.pending, other.pending);
      end.in_flight = other.in_flight;
      end.is_passed = end.is_passed || other.is_passed;
      end.has_waited = end.has_waited || other.has_waited;
    } else if (const LetStmt* let = step.stmt.as<LetStmt>()) {
      if (differs(let->value)) differing_.push_back(let->var);
      accesses_.define(*let);
      flow(step.body, end);
    } else if (step.stmt.as<Allocate>() != nullptr || step.stmt.as<InstructionStmt>() != nullptr) {
      flow(step.body, end);
    } else {
      expect_common_shuffle(step.stmt);
      for (const SharedAccess& access : accesses_.in(step.stmt, only_in_)) {
        add_once(end.pending, access);
        if (access.store != nullptr && access.store->buffer->storage.filled_asynchronously)
          add_once(end.in_flight, access);
      }
    }
    divided_ = was_divided;
    return end;
  }

  // Returns whether the step is a loop in whose body a barrier precedes every access that may conflict with the
  // pending ones.
  bool is_loop_behind_barrier(const Step& step, const SharedAccesses& pending) const {
    return step.stmt.as<For>() != nullptr && begin_with_barrier(step.body, pending);
  }

  bool begin_with_barrier(const std::vector<Step>& steps, const SharedAccesses& pending) const {
    for (const Step& step : steps) {
      if (step.needs_barrier) return true;
      if (accesses_.conflict(pending, step.own) == nullptr) continue;
      const LetStmt* let = step.stmt.as<LetStmt>();
      if (let == nullptr && step.stmt.as<Allocate>() == nullptr) return false;
      if (let != nullptr && accesses_.conflict(pending, accesses_.in(let->value, only_in_)) != nullptr) return false;
      return begin_with_barrier(step.body, pending);
    }
    return false;
  }

  // Requires that all threads of a block reach the barrier.
  void expect_common(const SharedAccess& cause) const {
    if (!divided_) return;
    throw CompileError("'" + cause.buffer->name +
                       "' is in shared memory, and the threads of a block have to wait for "
                       "each other where they use it: expected that all of them come there, got a condition or a loop "
                       "that differs from thread to thread");
  }

  void expect_common_shuffle(const Stmt& stmt) const {
    const Store* store = stmt.as<Store>();
    if (store == nullptr || shuffle_of(*store) == nullptr || !divided_) return;
    throw CompileError("the threads of a block combine what '" + store->buffer->name +
                       "' holds: expected that all of them come there, got a condition or a loop that differs from "
                       "thread to thread");
  }

  // Returns whether threads may see different values; a value from memory may be anything.
  bool differs(const Expr& expr) const {
    return ir::contains(expr, {ExprKind::Load}) ||
           std::any_of(differing_.begin(), differing_.end(), [&](const Expr& var) { return uses_var(expr, var); });
  }

  SharedAccessFinder accesses_;
  std::vector<Expr> differing_;
  OnlyIteration only_in_;     // known from the enclosing conditions
  SharedAccesses in_flight_;  // asynchronous stores before the step that is being summarised
  bool divided_ = false;      // whether an enclosing condition or loop differs between threads
};

Stmt with_barriers(const std::vector<Step>& steps);

Stmt with_barriers(const Step& step) {
  const Stmt& stmt = step.stmt;
  if (const For* loop = stmt.as<For>())
    return For::make(loop->var, loop->min, loop->extent, loop->for_kind, with_barriers(step.body));
  if (const If* choice = stmt.as<If>())
    return If::make(choice->condition, with_barriers(step.body),
                    choice->on_false.defined() ? with_barriers(step.otherwise) : Stmt());
  if (const LetStmt* let = stmt.as<LetStmt>()) return LetStmt::make(let->var, let->value, with_barriers(step.body));
  if (const Allocate* allocation = stmt.as<Allocate>())
    return Allocate::make(allocation->buffer, with_barriers(step.body));
  return stmt;
}

Stmt with_barriers(const std::vector<Step>& steps) {
  std::vector<Stmt> result;
  for (const Step& step : steps) {
    if (step.needs_barrier) result.push_back(make_barrier());
    result.push_back(with_barriers(step));
  }
  return Block::make(std::move(result));
}

bool need_barriers(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    return step.needs_barrier || need_barriers(step.body) || need_barriers(step.otherwise);
  });
}

class Inserter : public Mutator {
 protected:
  using Mutator::mutate_node;

  Stmt mutate_node(const For& node, const Stmt& self) override {
    if (!is_thread(node.for_kind)) return Mutator::mutate_node(node, self);
    const ThreadNest nest = thread_nest(node);
    if (std::all_of(nest.axes.begin(), nest.axes.end(), [](const ThreadAxis& axis) { return axis.extent == 1; }))
      return self;
    const std::vector<Step> steps = BarrierPlan(nest.axes).plan(nest.innermost->body);
    return need_barriers(steps) ? with_body(node, *nest.innermost, with_barriers(steps)) : self;
  }
};

}  // namespace

Function insert_barriers(Function function) {
  function.body = Inserter().mutate(function.body);
  return function;
}

}  // namespace ferry::passes
