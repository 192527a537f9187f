#include "host/lower/lower.h"

#include "crosscompile/analysis/loads.h"
#include "host/lower/constant_stages.h"
#include "host/lower/double_buffer.h"
#include "host/lower/extern_stage.h"
#include "host/lower/nontemporal_results.h"
#include "host/lower/placement.h"
#include "host/lower/prefetch.h"
#include "host/lower/signature.h"
#include "host/lower/stage_nest.h"
#include "host/lower/tensorize.h"
#include "host/lower/threads_outside.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/gpu_loops.h"
#include "crosscompile/ir/mutator.h"
#include "ferry/operators.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace ferry::lower {

using namespace ir;
using schedule::Attachment;
using schedule::ComputeKind;
using schedule::ScheduledStage;

namespace {

// Whether an expression reads a buffer, and whether it does so only at the given point.
struct ReadsOf {
  bool any = false;
  bool only_at_point = true;

  void add(const Expr& expr, const Buffer* buffer, const std::vector<Axis>& point) {
    analysis::for_each_load(expr, [&](const Load& load) {
      if (load.buffer.get() != buffer) return;
      any = true;
      for (std::size_t i = 0; i < load.indices.size(); ++i)
        only_at_point &= i < point.size() && load.indices[i].same_as(point[i].var);
    });
  }
};

// Replaces reads of tensors by reads of their storage.
class UseStorage : public Mutator {
 public:
  explicit UseStorage(const Nests& nests) {
    for (const Nest& nest : nests)
      for (std::size_t i = 0; i < nest.storage.size(); ++i) storage_[nest.stage->outputs[i].get()] = &nest.storage[i];
    for (const Nest& nest : nests)
      if (nest.stage->sequence != nullptr) storage_[nest.stage->sequence->self.get()] = &nest.storage[0];
  }

 protected:
  Expr mutate_node(const Load& node, const Expr& self) override {
    const auto found = storage_.find(node.buffer.get());
    if (found == storage_.end()) return Mutator::mutate_node(node, self);
    std::vector<Expr> point;
    for (const Expr& index : node.indices) point.push_back(mutate(index));
    return Load::make(found->second->buffer, found->second->indices(point));
  }
  using Mutator::mutate_node;

 private:
  std::unordered_map<const Buffer*, const Storage*> storage_;
};

class Lowering {
 public:
  Lowering(const lang::Program& program, const schedule::Stages& stages, FunctionsOfC functions)
      : program_(program), stages_(stages), functions_(functions) {}

  Function run() {
    Function function = signature_of(program_);
    for (std::size_t i = 0; i < program_.parameters.size(); ++i)
      assign_storage(program_.parameters[i], function.parameters[i].buffer);
    nests_ = place_stages(stages_, parameter_storage_);
    Stmt body = attached_stages(Attachment{}, {});
    function.messages = messages_;
    std::vector<Stmt> steps;
    if (body.defined())
      steps.push_back(double_buffers(nests_, tensorize(nests_, UseStorage(nests_).mutate(body), functions_)));
    const bool on_gpu = !steps.empty() && ir::has_gpu_loops(steps.front());
    for (const auto& [from, to] : copy_back_) steps.push_back(on_gpu ? copy_by_threads(from, to) : copy(from, to));
    function.body = Block::make(std::move(steps));
    for (const BufferRef& buffer : temporaries_) function.body = Allocate::make(buffer, function.body);
    mark_nontemporal_results(function, stages_);
    return function;
  }

 private:
  // Says where a parameter's values are written, given the caller's memory for it.
  void assign_storage(const lang::Parameter& parameter, const BufferRef& memory) {
    if (parameter.kind == ParameterKind::scalar || parameter.direction == Direction::in) return;
    BufferRef& result = parameter_storage_[parameter.tensor.buffer().get()];
    result = memory;
    if (parameter.direction == Direction::out || computes_in_place(parameter)) return;
    result = storage_of(*parameter.tensor.buffer(), Scope::global);
    temporaries_.push_back(result);
    copy_back_.push_back({result, memory});
  }

  // Whether the new contents may overwrite the old ones in place: only the stage that computes them reads the old ones,
  // each element only where it is replaced, and no later stage reads them.
  bool computes_in_place(const lang::Parameter& parameter) const {
    const Buffer* initial = parameter.initial.buffer().get();
    for (const ScheduledStage& stage : stages_) {
      ReadsOf reads;
      if (stage.external != nullptr) reads.only_at_point = false;
      for (const Expr& value : stage.expressions()) reads.add(value, initial, stage.axes);
      if (!reads.any) continue;
      // A scatter takes over the storage of the stage that it updates.
      const ScheduledStage* last = stage.updated_by.empty() ? &stage : find_stage(stages_, stage.updated_by);
      const bool replaces =
          std::find(last->outputs.begin(), last->outputs.end(), parameter.tensor.buffer()) != last->outputs.end();
      if (!replaces || !reads.only_at_point || stage.is_scatter()) return false;
      const Reduce* reduce = stage.reduction();
      if (reduce == nullptr) continue;
      // A reduction stores after its loops, but the source of another result may still read the old element.
      const auto reads_it = [&](const Expr& source) { return analysis::reads(source, initial); };
      if (std::any_of(reduce->sources.begin(), reduce->sources.end(), reads_it)) return false;
    }
    return true;
  }

  static bool is_at(const Attachment& place, const Attachment& loop) {
    return place.stage == loop.stage && (place.stage.empty() || place.loop == loop.loop);
  }

  static Attachment place_of(const ScheduledStage& stage) {
    return stage.compute_kind == ComputeKind::attached ? stage.compute_at : Attachment{};
  }

  Stmt loops_of(const Nest& nest) {
    const auto body = [&](std::size_t id, Stmt inner, const Expr& is_real_iteration) {
      return attached_stages(Attachment{nest.name(), id}, with_prefetches(nests_, nest, id, std::move(inner)),
                             is_real_iteration);
    };
    return stage_nest(nest, nests_, loops_around(nests_, place_of(*nest.stage)), body);
  }

  // Returns the body of a loop preceded by the stages attached to the loop, inside the allocations of their storage. An
  // attachment without a stage stands for the function's body, in which the stages at the root are computed.
  Stmt attached_stages(const Attachment& loop, Stmt body, const Expr& is_real_iteration = {}) {
    std::vector<Stmt> steps;
    // Nests are ordered consumers first.
    for (auto nest = nests_.rbegin(); nest != nests_.rend(); ++nest) {
      if (!is_at(place_of(*nest->stage), loop)) continue;
      if (!loop.stage.empty()) expect_not_initial(*nest, loop);
      if (keeps_contents(*nest)) continue;
      steps.push_back(nest->stage->external != nullptr ? extern_stage(*nest) : loops_of(*nest));
      if (!nest->stage->assertion.empty()) steps.push_back(assertion(*nest));
    }
    if (is_real_iteration.defined() && !steps.empty())
      steps = {If::make(is_real_iteration, Block::make(std::move(steps)))};
    if (body.defined()) steps.push_back(std::move(body));
    if (steps.empty()) return {};
    Stmt result = Block::make(std::move(steps));
    for (const Nest& nest : nests_) {
      const Attachment kept = nest.stage->store_at ? *nest.stage->store_at : place_of(*nest.stage);
      if (!is_at(kept, loop)) continue;
      for (std::size_t i = 0; i < nest.storage.size(); ++i)
        if (nest.stage->updated_by.empty() && !parameter_storage_.contains(nest.stage->outputs[i].get()))
          result = Allocate::make(nest.storage[i].buffer, std::move(result));
    }
    return result;
  }

  // Whether the stage copies a parameter that is updated in place to itself.
  static bool keeps_contents(const Nest& nest) {
    const Load* load = nest.values[0].as<Load>();
    if (nest.stage->updated_by.empty() || load == nullptr || load->buffer != nest.storage[0].buffer) return false;
    ReadsOf reads;
    reads.add(nest.values[0], load->buffer.get(), nest.stage->axes);
    return reads.only_at_point;
  }

  Stmt assertion(const Nest& nest) {
    messages_.push_back(nest.stage->assertion);
    return Assert::make(Load::make(nest.storage[0].buffer, {}), static_cast<std::uint32_t>(messages_.size() - 1));
  }

  // The initial value of a reduction is computed before its loops, so a stage attached inside them comes too late for
  // it.
  void expect_not_initial(const Nest& attached, const Attachment& loop) const {
    const Nest& outer = *find_nest(nests_, loop.stage);
    const Reduce* reduce = outer.reduction();
    if (reduce == nullptr) return;
    bool inside = false;
    for (std::size_t id : outer.loops.order()) {
      inside |= outer.loops.loop(id).reduces;
      if (id == loop.loop) break;
    }
    if (!inside) return;
    for (const Expr& init : reduce->init)
      for (const Load* load : analysis::loads_of(init))
        if (std::find(attached.stage->outputs.begin(), attached.stage->outputs.end(), load->buffer) !=
            attached.stage->outputs.end())
          throw CompileError("'" + attached.name() + "' is computed at the axis '" + outer.loops.loop(loop.loop).name +
                             "' of '" + outer.name() + "': expected a loop outside of the reduction, because the " +
                             "reduction starts from it");
  }

  static Stmt copy(const BufferRef& from, const BufferRef& to) {
    std::vector<Expr> index;
    for (std::size_t i = 0; i < from->shape.size(); ++i) index.push_back(Var::make("i" + std::to_string(i)));
    Stmt body = Store::make(to, index, Load::make(from, index));
    for (std::size_t i = from->shape.size(); i-- > 0;)
      body = For::make(index[i], Expr(0), from->shape[i], ForKind::serial, std::move(body));
    return body;
  }

  // Returns a kernel with one thread for each element.
  static Stmt copy_by_threads(const BufferRef& from, const BufferRef& to) {
    constexpr std::int64_t kThreads = 256;
    const Expr block = Var::make("block"), thread = Var::make("thread"), at = block * kThreads + thread;
    Expr count(1);
    std::vector<Expr> index(from->shape.size());
    for (std::size_t i = from->shape.size(); i-- > 0;) {
      index[i] = i == 0 ? at / count : at / count % from->shape[i];
      count = count * from->shape[i];
    }
    Stmt body = If::make(at < count, Store::make(to, index, Load::make(from, index)));
    body = For::make(thread, Expr(0), Expr(kThreads), ForKind::thread_x, std::move(body));
    return For::make(block, Expr(0), (count + (kThreads - 1)) / kThreads, ForKind::block_x, std::move(body));
  }

  const lang::Program& program_;
  const schedule::Stages& stages_;
  FunctionsOfC functions_;
  ParameterStorage parameter_storage_;
  std::vector<BufferRef> temporaries_;
  std::vector<std::pair<BufferRef, BufferRef>> copy_back_;
  Nests nests_;
  std::vector<std::string> messages_;
};

}  // namespace

Function lower(const lang::Program& program, const schedule::Schedule& schedule, FunctionsOfC functions) {
  const std::optional<schedule::Stages> moved = threads_outside_reductions(schedule.stages());
  return Lowering(program, moved ? *moved : schedule.stages(), functions).run();
}

std::vector<Function> lower_module(std::span<const lang::Program> programs,
                                   std::span<const schedule::Schedule> schedules) {
  std::vector<Function> functions;
  for (std::size_t i = 0; i < programs.size(); ++i)
    for (Function& function : split_constants(lower(programs[i], schedules[i])))
      functions.push_back(std::move(function));
  return functions;
}

}  // namespace ferry::lower
