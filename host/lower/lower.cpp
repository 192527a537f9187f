#include "host/lower/lower.h"

#include "host/lower/flops.h"
#include "host/lower/inliner.h"
#include "host/lower/stage_nest.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/operators.h"
#include "crosscompile/ir/visitor.h"

#include <unordered_map>
#include <unordered_set>

namespace ferry::lower {

using namespace ir;

namespace {

// A stage with all its output tensors, in component order.
struct StageGroup {
  const lang::Stage* stage = nullptr;
  std::vector<BufferRef> buffers;
};

std::vector<StageGroup> group_stages(const lang::Program& program) {
  std::vector<StageGroup> groups;
  std::unordered_map<const lang::Stage*, std::size_t> place;
  for (const lang::Tensor& tensor : lang::computed_tensors(program)) {
    const auto [found, is_new] = place.try_emplace(tensor.stage(), groups.size());
    if (is_new) {
      groups.push_back({tensor.stage(), {}});
      groups.back().buffers.resize(tensor.stage()->values.size());
    }
    groups[found->second].buffers[tensor.buffer()->component] = tensor.buffer();
  }
  return groups;
}

// Whether an expression reads a buffer, and whether only at exactly the given point.
class ReadsOf : public Visitor {
 public:
  ReadsOf(const Buffer* buffer, const std::vector<Axis>& point) : buffer_(buffer), point_(point) {}
  bool any = false;
  bool only_at_point = true;

 protected:
  void visit_node(const Load& node) override {
    if (node.buffer.get() == buffer_) {
      any = true;
      for (std::size_t i = 0; i < node.indices.size(); ++i)
        only_at_point &= i < point_.size() && node.indices[i].same_as(point_[i].var);
    }
    Visitor::visit_node(node);
  }
  using Visitor::visit_node;

 private:
  const Buffer* buffer_;
  const std::vector<Axis>& point_;
};

class Lowering {
 public:
  Lowering(const lang::Program& program, const schedule::Schedule& schedule)
      : program_(program), schedule_(schedule), groups_(group_stages(program)) {}

  Function run() {
    Function function;
    function.name = program_.name;
    function.symbols = lang::symbols_of(program_);
    function.requirements = program_.requirements;
    function.flops = count_flops(program_);
    for (const lang::Parameter& parameter : program_.parameters) add_parameter(parameter, function);
    std::vector<Stmt> nests;
    for (const StageGroup& group : groups_) {
      const schedule::StageSchedule& how = schedule_.at(group.stage);
      const StageParts parts = prepare(group, how.loops.has_value());
      if (how.loops) nests.push_back(stage_nest(parts, *how.loops));
      if (!group.stage->assertion.empty()) {
        nests.push_back(Assert::make(Load::make(parts.outputs.at(0), {}), add_message(function, *group.stage)));
      }
    }
    for (auto& [from, to] : copy_back_) nests.push_back(copy(from, to));
    function.body = Block::make(std::move(nests));
    for (auto buffer = intermediates_.rbegin(); buffer != intermediates_.rend(); ++buffer)
      function.body = Allocate::make(*buffer, function.body);
    return function;
  }

 private:
  void add_parameter(const lang::Parameter& parameter, Function& function) {
    FunctionParameter result{parameter.name, parameter.kind, parameter.direction, {}, {}};
    if (parameter.kind == ParameterKind::scalar) {
      result.scalar = parameter.scalar;
    } else if (parameter.direction == Direction::inout) {
      // One piece of memory starts as `initial` and ends as `tensor`.
      result.buffer = parameter.initial.buffer();
      if (computes_in_place(parameter)) {
        storage_[parameter.tensor.buffer().get()] = result.buffer;
      } else {
        const BufferRef temporary = make_storage(parameter.tensor.buffer());
        storage_[parameter.tensor.buffer().get()] = temporary;
        copy_back_.push_back({temporary, result.buffer});
      }
    } else if (parameter.direction == Direction::out) {
      // Memory knows nothing of what is computed into it.
      Buffer buffer = *parameter.tensor.buffer();
      buffer.scope = Scope::parameter;
      buffer.definition = nullptr;
      result.buffer = std::make_shared<Buffer>(std::move(buffer));
      storage_[parameter.tensor.buffer().get()] = result.buffer;
    } else {
      result.buffer = parameter.tensor.buffer();
    }
    function.parameters.push_back(std::move(result));
  }

  // The old contents may be overwritten as the new ones are computed: only the stage that does so reads them, each
  // element just where it is replaced, and no later stage wants them.
  bool computes_in_place(const lang::Parameter& parameter) const {
    const Buffer* initial = parameter.initial.buffer().get();
    for (const StageGroup& group : groups_) {
      ReadsOf reads(initial, group.stage->axes);
      for (const Expr& value : group.stage->values) reads.visit(value);
      if (!reads.any) continue;
      const bool replaces = group.stage == parameter.tensor.stage();
      const auto* reduce = group.stage->values[0].as<Reduce>();
      if (!replaces || !reads.only_at_point) return false;
      if (!reduce) continue;
      // A reduction stores after its loops, but another result's source may still want the old element.
      ReadsOf in_sources(initial, group.stage->axes);
      for (const Expr& source : reduce->sources) in_sources.visit(source);
      if (in_sources.any) return false;
    }
    return true;
  }

  BufferRef make_storage(const BufferRef& tensor) {
    Buffer buffer = *tensor;
    buffer.scope = Scope::global;
    buffer.definition = nullptr;
    intermediates_.push_back(std::make_shared<Buffer>(std::move(buffer)));
    return intermediates_.back();
  }

  // Inlines into the stage's values, and decides where its results go.
  StageParts prepare(const StageGroup& group, bool stored) {
    StageParts parts{group.stage->name, group.stage->axes, {}, {}};
    for (std::size_t i = 0; i < group.buffers.size(); ++i) {
      const BufferRef& tensor = group.buffers[i];
      if (tensor == nullptr) continue;  // an output that nothing uses
      parts.values.push_back(inliner_.mutate(group.stage->values[i]));
      if (!stored) {
        inliner_.inline_as(tensor, group.stage->axes, parts.values.back());
        continue;
      }
      const auto found = storage_.find(tensor.get());
      const BufferRef storage = found != storage_.end() ? found->second : make_storage(tensor);
      inliner_.store_as(tensor, storage);
      parts.outputs.push_back(storage);
    }
    return parts;
  }

  static std::uint32_t add_message(Function& function, const lang::Stage& stage) {
    function.messages.push_back(stage.assertion);
    return static_cast<std::uint32_t>(function.messages.size() - 1);
  }

  static Stmt copy(const BufferRef& from, const BufferRef& to) {
    std::vector<Expr> index;
    for (std::size_t i = 0; i < from->shape.size(); ++i) index.push_back(Var::make("i" + std::to_string(i)));
    Stmt body = Store::make(to, index, Load::make(from, index));
    for (std::size_t i = from->shape.size(); i-- > 0;)
      body = For::make(index[i], Expr(0), from->shape[i], ForKind::serial, std::move(body));
    return body;
  }

  const lang::Program& program_;
  const schedule::Schedule& schedule_;
  std::vector<StageGroup> groups_;
  Inliner inliner_;
  std::unordered_map<const Buffer*, BufferRef> storage_;
  std::vector<BufferRef> intermediates_;
  std::vector<std::pair<BufferRef, BufferRef>> copy_back_;
};

}  // namespace

Function lower(const lang::Program& program, const schedule::Schedule& schedule) {
  return Lowering(program, schedule).run();
}

Function lower(const lang::Program& program, const Target& target) {
  return lower(program, schedule::default_schedule(program, target));
}

}  // namespace ferry::lower
