#include "host/lower/placement.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"
#include "host/lower/bounds.h"
#include "host/lower/inliner.h"
#include "host/lower/stage_storage.h"
#include "host/schedule/stages/size_conditions.h"
#include "host/schedule/stages/written_once.h"

#include <algorithm>

namespace ferry::lower {

using namespace ir;
using schedule::Attachment;
using schedule::ComputeKind;
using schedule::Loop;
using schedule::ScheduledStage;

namespace {

class Placement {
 public:
  Placement(const schedule::Stages& stages, const ParameterStorage& parameter_storage)
      : stages_(stages), parameter_storage_(parameter_storage), size_conditions_(schedule::size_conditions(stages)) {}

  Nests run() {
    // Producers come first, so that inlined values are complete.
    Inliner inliner;
    for (const ScheduledStage& stage : stages_) {
      std::vector<Expr>& values = values_[&stage];
      for (const Expr& value : stage.expressions()) values.push_back(inliner.mutate(value));
      if (stage.compute_kind != ComputeKind::inlined) continue;
      for (std::size_t i = 0; i < stage.outputs.size(); ++i) inliner.inline_as(stage.outputs[i], stage.axes, values[i]);
    }
    for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage)
      if (stage->compute_kind != ComputeKind::inlined) add(*stage);
    return std::move(nests_);
  }

 private:
  void add(const ScheduledStage& stage) {
    Nest nest;
    nest.stage = &stage;
    nest.values = std::move(values_[&stage]);
    const auto place = nest.values.begin() + std::ssize(stage.values);
    nest.place.assign(place, nest.values.end());
    nest.values.erase(place, nest.values.end());
    std::vector<RequiredRange> kept;
    Sliding sliding;
    if (stage.is_final() && stage.compute_kind != ComputeKind::attached) {
      for (const Axis& axis : stage.axes) nest.required.push_back({Expr(0), axis.extent, {}, {}});
      kept = nest.required;
    } else {
      const std::vector<const Nest*> readers = readers_of(stage);
      const Attachment computed = stage.compute_kind == ComputeKind::attached ? stage.compute_at : Attachment{};
      for (const Nest* reader : readers) expect_within(stage, *reader, computed);
      if (stage.is_result) expect_written_once(stage);
      const bool shared = !stage.is_result && threads_compute(stage);
      const Scope scope = stage.scope.value_or(shared ? Scope::shared : Scope::global);
      nest.required = required_at(nests_, stage, readers, computed, scope, size_conditions_);
      require_sequence(stage, nest.required);
      kept = nest.required;
      if (stage.store_at) {
        expect_kept_outside(stage);
        kept = required_at(nests_, stage, readers, *stage.store_at, scope, size_conditions_);
        require_sequence(stage, kept);
        expect_serial_between(stage);
      }
      // Storage local to one iteration cannot carry points over to the next, so it needs no sliding window.
      if (stage.store_at && !(stage.store_at->stage == computed.stage && stage.store_at->loop == computed.loop)) {
        sliding = slide(std::move(nest.required), find_nest(nests_, computed.stage)->loops.loop(computed.loop));
        nest.required = sliding.required;
      }
    }
    std::vector<schedule::AxisRange> ranges;
    for (const RequiredRange& required : nest.required) ranges.push_back({required.min, required.extent});
    std::vector<Expr> facts = size_conditions_;
    if (stage.compute_kind == ComputeKind::attached)
      for (Expr& fact : facts_of(loops_around(nests_, stage.compute_at))) facts.push_back(std::move(fact));
    nest.loops = stage.loops.over(ranges, facts);
    nest.axis_values = nest.loops.axis_values();
    if (stage.is_scatter()) kept = whole(*stage.outputs[0]);
    if (!stage.updated_by.empty()) {
      nest.storage = find_nest(nests_, stage.updated_by)->storage;
      nests_.push_back(std::move(nest));
      return note_reads(nests_.back());
    }
    for (const BufferRef& output : stage.outputs) {
      const auto held = parameter_storage_.find(output.get());
      nest.storage.push_back(held != parameter_storage_.end()
                                 ? Storage{held->second, {}, {}}
                                 : make_storage(stage, output, kept, sliding, loops_around_storage(stage)));
    }
    nests_.push_back(std::move(nest));
    note_reads(nests_.back());
  }

  static std::vector<RequiredRange> whole(const Buffer& tensor) {
    std::vector<RequiredRange> ranges;
    for (const Expr& extent : tensor.shape) ranges.push_back({Expr(0), extent, {}, {}});
    return ranges;
  }

  // An element of a recurrence needs all elements that may come before it.
  static void require_sequence(const ScheduledStage& stage, std::vector<RequiredRange>& required) {
    if (stage.sequence == nullptr) return;
    for (std::size_t a = 0; a < required.size(); ++a)
      if (stage.sequence->crossed[a]) required[a] = {Expr(0), stage.axes[a].extent, {}, {}};
  }

  void note_reads(const Nest& nest) {
    for (const Expr& value : nest.expressions()) {
      for (const Load* load : analysis::loads_of(value)) {
        std::vector<const Nest*>& readers = reader_nests_[load->buffer.get()];
        if (readers.empty() || readers.back() != &nest) readers.push_back(&nest);
      }
    }
  }

  std::vector<const Nest*> readers_of(const ScheduledStage& stage) const {
    std::vector<const Nest*> readers;
    for (const BufferRef& output : stage.outputs) {
      const auto found = reader_nests_.find(output.get());
      if (found == reader_nests_.end()) continue;
      for (const Nest* reader : found->second)
        if (std::find(readers.begin(), readers.end(), reader) == readers.end()) readers.push_back(reader);
    }
    return readers;
  }

  // The directive checked this, but later directives may have moved loops and stages.
  void expect_within(const ScheduledStage& stage, const Nest& reader, const Attachment& place) const {
    if (place.stage.empty() || schedule::is_within(stages_, *reader.stage, place)) return;
    const Nest& at = *find_nest(nests_, place.stage);
    throw CompileError("'" + stage.name + "' is computed at the axis '" + at.loops.loop(place.loop).name + "' of '" +
                       at.name() + "': expected all that reads it inside that loop, got '" + reader.name() +
                       "' outside of it");
  }

  bool is_all_required(const Nest& nest) const {
    for (std::size_t a = 0; a < nest.required.size(); ++a) {
      const RequiredRange& required = nest.required[a];
      if (!passes::can_prove(required.lowest() <= Expr(0), size_conditions_) ||
          !passes::can_prove(required.highest() >= nest.stage->axes[a].extent - Expr(1), size_conditions_))
        return false;
    }
    return true;
  }

  // A directive after compute_at may have inlined other readers or added loops.
  void expect_written_once(const ScheduledStage& stage) const {
    const Nest& at = *find_nest(nests_, stage.compute_at.stage);
    std::string problem = schedule::why_not_once(stage, *at.stage, at.values, at.loops, stage.compute_at.loop);
    if (problem.empty() && !at.stage->is_result && !is_all_required(at))
      problem = "'" + at.name() + "', of which only a part is required";
    if (!problem.empty())
      throw CompileError("'" + stage.name + "' is computed at the axis '" + at.loops.loop(stage.compute_at.loop).name +
                         "' of '" + at.name() + "': expected each element of the result to be written once, got " +
                         problem);
  }

  // A reorder after store_at may have exchanged the two loops.
  void expect_kept_outside(const ScheduledStage& stage) const {
    if (is_around(*stage.store_at, stage.compute_at)) return;
    throw CompileError("'" + stage.name + "' is stored at the axis '" + loop_of(*stage.store_at).name + "' of '" +
                       stage.store_at->stage + "': expected a loop around the one that computes it ('" +
                       loop_of(stage.compute_at).name + "'), got one inside of that");
  }

  const Loop& loop_of(const Attachment& place) const { return find_nest(nests_, place.stage)->loops.loop(place.loop); }

  // Whether `outer` is the same loop as `inner` or encloses it; no stage means outside all loops.
  bool is_around(const Attachment& outer, const Attachment& inner) const {
    if (outer.stage.empty()) return true;
    const Loop& loop = loop_of(outer);
    const std::vector<Loop> around = loops_around(nests_, inner);
    return std::any_of(around.begin(), around.end(), [&](const Loop& other) { return other.var.same_as(loop.var); });
  }

  // Values kept from one iteration for the next must not be shared by iterations that run concurrently.
  void expect_serial_between(const ScheduledStage& stage) const {
    const std::vector<Loop> computed = loops_around(nests_, stage.compute_at);
    const std::size_t kept = loops_around(nests_, *stage.store_at).size();
    for (std::size_t i = kept; i < computed.size(); ++i) {
      if (computed[i].kind == ForKind::serial || computed[i].kind == ForKind::unrolled) continue;
      throw CompileError("'" + stage.name + "': expected serial loops between where it is stored and where it is " +
                         "computed, got '" + computed[i].name + "', whose iterations run at the same time");
    }
  }

  std::vector<Loop> loops_around_storage(const ScheduledStage& stage) const {
    if (stage.compute_kind != ComputeKind::attached) return {};
    return loops_around(nests_, stage.store_at ? *stage.store_at : stage.compute_at);
  }

  const schedule::Stages& stages_;
  const ParameterStorage& parameter_storage_;
  const std::vector<Expr> size_conditions_;
  std::unordered_map<const ScheduledStage*, std::vector<Expr>> values_;
  std::unordered_map<const Buffer*, std::vector<const Nest*>> reader_nests_;
  Nests nests_;
};

}  // namespace

Nests place_stages(const schedule::Stages& stages, const ParameterStorage& parameter_storage) {
  return Placement(stages, parameter_storage).run();
}

}  // namespace ferry::lower
