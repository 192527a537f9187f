#include "host/autoschedule/decisions.h"

#include "host/autoschedule/attention.h"
#include "host/autoschedule/block_dots.h"
#include "host/autoschedule/borders.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/epilogue.h"
#include "host/autoschedule/epilogue_fusion.h"
#include "host/autoschedule/fused_window.h"
#include "host/autoschedule/gpu_tensor_cores.h"
#include "host/autoschedule/inline_choice.h"
#include "host/autoschedule/nontemporal_stores.h"
#include "host/autoschedule/parallel.h"
#include "host/autoschedule/read_ahead.h"
#include "host/autoschedule/row_fusion.h"
#include "host/autoschedule/rules.h"
#include "host/autoschedule/tiled_stages.h"
#include "host/autoschedule/transposed_operand.h"
#include "host/autoschedule/winograd.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/error.h"

#include <algorithm>
#include <map>
#include <optional>

namespace ferry::autoschedule {

using schedule::ComputeKind;
using schedule::Directive;
using schedule::Loop;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::Stages;

namespace {

class Walk {
 public:
  Walk(Schedule schedule, const lang::Program& program, const Target& target, const ConstantNames& constants,
       const Chooser& choose)
      : schedule_(std::move(schedule)),
        target_(target),
        constants_(constants),
        choose_(choose),
        at_any_size_(schedule::stages_of(program)) {}

  DecidedSchedule run() {
    const Stages* open = target_.has_thread_blocks() ? nullptr : &at_any_size_;
    const std::vector<std::string> borders = borders_to_inline(schedule_.stages(), open);
    const std::vector<std::string> inlined = stages_to_inline(schedule_.stages(), borders);
    std::optional<TransposedOperand> transposed;
    if (!target_.has_thread_blocks()) transposed = find_transposed_operand(schedule_.stages(), inlined, target_);
    for (const std::string& stage : inlined)
      if (!transposed || stage != transposed->stage) schedule_[stage].compute_inline();
    for (const std::string& stage : borders) schedule_[stage].compute_inline();
    if (transposed) schedule_transposed(*transposed);
    // Excludes the copies that packing adds, which are scheduled already.
    std::vector<std::string> stages;
    for (const ScheduledStage& stage : schedule_.stages())
      if (stage.compute_kind != ComputeKind::inlined && stage.external == nullptr) stages.push_back(stage.name);
    if (!target_.has_thread_blocks()) {
      schedule_group("winograd", match_winograd);
      schedule_group("attention", match_attention);
      schedule_group("fused_window", match_fused_window);
      schedule_group("block_dots", match_block_dots);
    }
    const RowFusion fusion = target_.has_thread_blocks() ? RowFusion{} : fuse_rows();
    if (!target_.has_thread_blocks()) move_borders_behind_windows(stages);
    for (const std::string& name : stages) {
      if (target_.has_thread_blocks())
        schedule_on_gpu(name);
      else
        schedule_on_cpu(name, fusion);
    }
    return {std::move(schedule_), std::move(decisions_), std::move(points_)};
  }

 private:
  const ScheduledStage& stage(const std::string& name) const { return *find_stage(schedule_.stages(), name); }

  StageContext context_of(const std::string& name) const {
    return {.schedule = schedule_,
            .stage = stage(name),
            .target = target_,
            .constants = constants_,
            .at_any_size = &at_any_size_};
  }

  Point choose(Decision decision) {
    Point point = choose_(decision);
    if (!decision.space.contains(point))
      throw CompileError(decision.stage + ": " + decision.rule + ": expected a point of its space");
    decisions_.push_back(std::move(decision));
    points_.push_back(point);
    return point;
  }

  Scheduled apply(const std::string& name, const char* rule, Match match) {
    const Point point = choose({name, rule, std::move(match.space)});
    return match.apply(schedule_, point);
  }

  void schedule_transposed(const TransposedOperand& operand) {
    finish(apply(operand.reader, "transposed_operand", match_transposed_operand(context_of(operand.reader), operand)));
  }

  // Schedules stages that belong together by a rule that matches one of them.
  void schedule_group(const char* rule, std::optional<Match> (*match)(const StageContext&)) {
    std::vector<std::string> names;
    for (const ScheduledStage& stage : schedule_.stages()) names.push_back(stage.name);
    for (const std::string& name : names) {
      if (contains(finished_, name)) continue;
      auto found = match(context_of(name));
      if (!found) continue;
      const Scheduled scheduled = apply(name, rule, *std::move(found));
      finished_.insert(finished_.end(), scheduled.epilogues.begin(), scheduled.epilogues.end());
      outer_.insert(scheduled.outer.begin(), scheduled.outer.end());
    }
  }

  // The windows are scheduled first, which computes borders in their loops.
  void move_borders_behind_windows(std::vector<std::string>& stages) const {
    for (const ScheduledStage& window : schedule_.stages()) {
      const std::string border = attached_border(schedule_.stages(), window, at_any_size_);
      if (border.empty()) continue;
      std::erase(stages, border);
      stages.push_back(border);
    }
  }

  RowFusion fuse_rows() {
    std::vector<std::string> apart = tiled_stages(schedule_.stages(), target_, constants_);
    apart.insert(apart.end(), finished_.begin(), finished_.end());
    RowFusion fusion = find_row_fusion(schedule_.stages(), apart, target_);
    if (fusion.result.empty()) return {};
    const Point point = choose({fusion.result, "row_fusion", space_of(fusion)});
    fusion.outer = static_cast<std::size_t>(point.number("axes"));
    if (fusion.outer == 0) return {};
    fusion.rows = point.number("rows");
    fuse(schedule_, fusion, target_, at_any_size_);
    return fusion;
  }

  // Returns the epilogues of a stage up to the first that another stage has already.
  std::vector<std::string> free_epilogues(const ScheduledStage& stage, const RowFusion& fusion) const {
    std::vector<std::string> epilogues = epilogue_stages(schedule_.stages(), stage, fusion.result);
    const auto taken = std::ranges::find_if(epilogues, [&](const auto& name) { return contains(finished_, name); });
    epilogues.erase(taken, epilogues.end());
    return epilogues;
  }

  // Applies the first rule that matches; without one, the stage keeps its loops.
  Scheduled apply_first(std::span<const Rule> rules, const StageContext& context) {
    const std::string name = context.stage.name;
    for (const Rule& rule : rules)
      if (auto match = rule.match(context)) return apply(name, rule.name, *std::move(match));
    return {.outermost = name};
  }

  void schedule_on_cpu(const std::string& name, const RowFusion& fusion) {
    if (auto match = match_nontemporal_stores(context_of(name))) apply(name, "nontemporal_stores", *std::move(match));
    if (contains(finished_, name)) return;
    StageContext context = context_of(name);
    if (context.stage.compute_kind == ComputeKind::attached || name == fusion.result) context.outer = fusion.outer;
    if (context.stage.compute_kind == ComputeKind::attached) context.block_rows = fusion.rows;
    if (const auto outer = outer_.find(name); outer != outer_.end()) context.outer = outer->second;
    if (context.stage.reduction() != nullptr && context.outer == 0)
      context.epilogues = free_epilogues(context.stage, fusion);
    const Scheduled scheduled = apply_first(cpu_rules(), context);
    if (scheduled.unrolled_vectors > 0)
      if (auto match = match_read_ahead(context_of(name), scheduled.unrolled_vectors))
        apply(name, "read_ahead", *std::move(match));
    finish(scheduled);
  }

  void finish(const Scheduled& scheduled) {
    finished_.insert(finished_.end(), scheduled.epilogues.begin(), scheduled.epilogues.end());
    if (scheduled.outermost.empty() || stage(scheduled.outermost).compute_kind != ComputeKind::root) return;
    if (auto match = match_parallel(context_of(scheduled.outermost)))
      apply(scheduled.outermost, "parallel", *std::move(match));
  }

  void schedule_on_gpu(const std::string& name) {
    if (contains(finished_, name)) return;
    StageContext context = context_of(name);
    if (context.stage.reduction() != nullptr) {
      const std::string reader = epilogue_stage(schedule_.stages(), context.stage);
      if (!reader.empty() && !contains(finished_, reader)) context.epilogues = {reader};
    }
    const Scheduled scheduled = apply_on_gpu(context);
    finished_.insert(finished_.end(), scheduled.epilogues.begin(), scheduled.epilogues.end());
  }

  Scheduled apply_on_gpu(const StageContext& context) {
    const std::string name = context.stage.name;
    if (auto match = match_gpu_tensor_cores(context))
      if (choose({name, "gpu_tensor_cores", space_of_tensor_cores()}).flag("tensor_cores"))
        return apply(name, "gpu_warp_tiles", *std::move(match));
    return apply_first(gpu_rules(), context);
  }

  Schedule schedule_;
  const Target& target_;
  const ConstantNames& constants_;
  const Chooser& choose_;
  Stages at_any_size_;
  std::vector<Decision> decisions_;
  std::vector<Point> points_;
  std::map<std::string, std::size_t> outer_;  // as in Scheduled
  std::vector<std::string> finished_;         // epilogues that were scheduled together with what they read
};

// Whether any stage calls a C function on whole tensors.
bool calls_functions(const Stages& stages) {
  return std::any_of(stages.begin(), stages.end(), [](const auto& stage) { return stage.external != nullptr; });
}

// Whether every loop that becomes vectors or unrolled copies has a constant extent.
bool has_constant_tiles(const Schedule& schedule) {
  for (const ScheduledStage& stage : schedule.stages()) {
    for (const std::size_t id : stage.loops.order()) {
      const Loop& loop = stage.loops.loop(id);
      const bool wants_constant = loop.kind == ir::ForKind::vectorized || loop.kind == ir::ForKind::unrolled;
      if (wants_constant && ir::as_int(loop.extent) == nullptr) return false;
    }
  }
  return true;
}

// Returns the schedule with the same directives for the program at any size, or nothing if one of them is legal only
// with constant sizes.
std::optional<Schedule> at_any_size(const lang::Program& program, const Schedule& sized) {
  try {
    Schedule schedule(program);
    for (const Directive& directive : sized.directives()) schedule.apply(directive);
    if (has_constant_tiles(schedule)) return schedule;
  } catch (const CompileError&) {
    // Falls back to a schedule without sizes.
  }
  return std::nullopt;
}

// Returns the names of the constant parameters, and of the stages that read these alone.
ConstantNames constants_of(const lang::Program& program) {
  ConstantNames constants;
  for (const lang::Parameter& parameter : program.parameters)
    if (parameter.constant) constants.insert(parameter.name);
  for (const ScheduledStage& stage : schedule::stages_of(program)) {  // producers first
    bool reads_any = false, reads_others = stage.external != nullptr;
    for (const ir::Expr& value : stage.expressions())
      for (const ir::Load* load : analysis::loads_of(value)) {
        if (stage.sequence != nullptr && load->buffer == stage.sequence->self) continue;
        reads_any = true;
        reads_others |= !constants.contains(load->buffer->name);
      }
    if (!reads_any || reads_others) continue;
    for (const ir::BufferRef& output : stage.outputs) constants.insert(output->name);
  }
  return constants;
}

}  // namespace

DecidedSchedule decide_schedule(const lang::Program& program, const Target& target, const Sizes& sizes,
                                const Chooser& choose) {
  const ConstantNames constants = constants_of(program);
  if (!sizes.empty() && !calls_functions(schedule::stages_of(program))) {
    DecidedSchedule sized = Walk(Schedule(stages_at(program, sizes)), program, target, constants, choose).run();
    if (auto schedule = at_any_size(program, sized.schedule)) {
      sized.schedule = *std::move(schedule);
      sized.at_sizes = true;
      return sized;
    }
  }
  return Walk(Schedule(program), program, target, constants, choose).run();
}

Point choose_default(const Decision& decision) { return decision.space.default_point(); }

std::uint64_t points_of(const std::vector<Decision>& decisions) {
  std::uint64_t points = 1;
  for (const Decision& decision : decisions) points = saturating_product(points, decision.space.size());
  return points;
}

std::string to_text(const Decision& decision, const Point& point) {
  const std::uint64_t points = decision.space.size();
  std::string text =
      decision.stage + ": " + decision.rule + ", " + std::to_string(points) + (points == 1 ? " point\n" : " points\n");
  for (const SpaceKnob& knob : decision.space.knobs) text += "  " + to_text(knob, point[knob.name]) + "\n";
  return text;
}

}  // namespace ferry::autoschedule
