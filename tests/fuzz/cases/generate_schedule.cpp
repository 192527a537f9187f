#include "tests/fuzz/cases/generate_schedule.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"
#include "ferry/schedule/default_schedule.h"
#include "host/autoschedule/decide_at.h"

#include <algorithm>
#include <stdexcept>

namespace ferry::fuzz {

namespace {

using schedule::Directive;
using schedule::Schedule;
using schedule::ScheduledStage;

// Limit on the copies of a body that unrolling and vectorization make, so that a case stays small.
constexpr std::int64_t kMaxCopies = 256;
// Limits on the iterations of a stage's loops, including those that guards skip: nested splits would soon take hours,
// all the more where another stage is computed in each iteration.
constexpr std::int64_t kSomeIterations = 500, kTimesAsMany = 8;

using Sizes = std::map<std::string, std::int64_t>;

class ScheduleGenerator {
  // Values of the choice in next().
  static constexpr std::int64_t kComputeAt = 64, kStoreAt = 77, kInlineInjective = 84, kLayout = 95, kPrefetch = 99,
                                kDoubleBuffer = 103;

 public:
  ScheduleGenerator(const Schedule& schedule, const Sizes& sizes, Random& random)
      : random_(random), sizes_(sizes), all_(schedule.stages()) {
    for (const ScheduledStage& stage : schedule.stages()) {
      stages_.push_back(&stage);
      copies_ *= copies_of(stage);
    }
  }

  Directive next() {
    stage_ = random_.of(stages_);
    std::int64_t choice = random_.between(0, 103);
    // A stage computed in another's loop is often stored further out, so that its region slides, or computed ahead.
    for (const ScheduledStage* stage : stages_) {
      if (stage->compute_kind != schedule::ComputeKind::attached || stage->store_at || !random_.chance(30)) continue;
      stage_ = stage;
      choice = random_.chance(80) ? kStoreAt : kDoubleBuffer;
    }
    const bool places =
        (choice >= kComputeAt && choice < kInlineInjective) || (choice >= kLayout && choice < kPrefetch);
    if (places && random_.chance(85)) stage_ = intermediate();
    Directive directive{stage_->name, "", {}, 0};
    if (choice < 22) {
      directive.primitive = "split";
      const std::string name = axis();
      directive.args = random_.chance(75) ? Args{name, factor_of(name)} : Args{name, "nparts", factor_of(name)};
    } else if (choice < 30) {
      const auto [outer, inner] = neighbours();
      directive.primitive = "tile";
      directive.args = {outer, inner, factor_of(outer), factor_of(inner)};
    } else if (choice < 36) {
      const auto [outer, inner] = neighbours();
      directive.primitive = "fuse";
      directive.args = {outer, inner};
    } else if (choice < 45) {
      directive.primitive = "reorder";
      directive.args = some_axes();
    } else if (choice < 52) {
      directive.primitive = "parallel";
      directive.args = {random_.chance(60) ? first_axis() : axis()};
    } else if (choice < 64) {
      directive.primitive = copies_ < kMaxCopies ? (random_.chance(70) ? "vectorize" : "unroll") : "parallel";
      directive.args = {small_axis()};
      if (directive.primitive == "vectorize" && random_.chance(25)) directive.args.push_back("reduce");
    } else if (choice < 76) {
      const auto readers = schedule::readers_of(all_, *stage_);
      const ScheduledStage& place = readers.empty() || random_.chance(30) ? *random_.of(stages_) : *random_.of(readers);
      directive.primitive = "compute_at";
      directive.args = {place.name, axis_of(place)};
    } else if (choice < 81) {
      const ScheduledStage* around =
          stage_->compute_kind == schedule::ComputeKind::attached ? named(stage_->compute_at.stage) : nullptr;
      const ScheduledStage& place = around != nullptr && random_.chance(80) ? *around : *random_.of(stages_);
      directive.primitive = "store_at";
      directive.args = random_.chance(30) ? Args{"root"} : Args{place.name, axis_of(place)};
    } else if (choice < 84) {
      directive.primitive = random_.chance(70) ? "compute_inline" : "compute_root";
    } else if (choice < 85) {
      directive.stage.clear();
      directive.primitive = "inline_injective";
    } else if (choice < 89) {
      directive.primitive = "cache_read";
      if (random_.chance(50)) directive.stage = some_tensor();
      directive.args = {scope()};
      if (random_.chance(40)) directive.args.push_back(random_.of(stages_)->name);
    } else if (choice < 92) {
      directive.primitive = "cache_write";
      directive.args = {scope()};
    } else if (choice < 95) {
      directive.primitive = "rfactor";
      directive.args = {axis()};
    } else if (choice < 97) {
      directive.primitive = "transform_layout";
      directive.args = layout();
    } else if (choice < 98) {
      directive.primitive = "storage_align";
      directive.args = {axis(), factor(), std::to_string(random_.between(0, 3))};
    } else if (choice < 99) {
      directive.primitive = "set_scope";
      directive.args = {scope()};
    } else if (choice < 101) {
      directive.primitive = "prefetch";
      directive.args = {some_tensor(), axis(), factor()};
    } else if (choice < 102) {
      directive.primitive = "nontemporal_stores";
    } else if (choice == kDoubleBuffer) {
      directive.primitive = "double_buffer";
      if (random_.chance(30)) directive.args = {std::to_string(random_.between(1, 5))};
    } else {
      directive.primitive = "pragma";
      directive.args = {axis(), "auto_unroll_max_step", std::to_string(random_.between(0, 32))};
    }
    return directive;
  }

 private:
  using Args = std::vector<std::string>;

  static std::int64_t copies_of(const ScheduledStage& stage) {
    std::int64_t copies = 1;
    for (const std::size_t id : stage.loops.order()) {
      const schedule::Loop& loop = stage.loops.loop(id);
      if (loop.kind != ir::ForKind::vectorized && loop.kind != ir::ForKind::unrolled) continue;
      const std::int64_t* extent = ir::as_int(loop.extent);
      copies *= extent == nullptr ? 8 : std::max<std::int64_t>(1, *extent);
    }
    return copies;
  }

  // Returns a random stage that is not an output, if there is one.
  const ScheduledStage* intermediate() {
    std::vector<const ScheduledStage*> found;
    std::copy_if(stages_.begin(), stages_.end(), std::back_inserter(found),
                 [](const ScheduledStage* stage) { return !stage->is_final(); });
    return found.empty() || (!stage_->is_final() && stage_->compute_kind == schedule::ComputeKind::attached)
               ? stage_
               : random_.of(found);
  }
  const ScheduledStage* named(const std::string& name) const {
    const auto found =
        std::find_if(stages_.begin(), stages_.end(), [&](const ScheduledStage* stage) { return stage->name == name; });
    return found == stages_.end() ? nullptr : *found;
  }
  std::string axis_of(const ScheduledStage& stage) {
    const std::vector<std::size_t>& order = stage.loops.order();
    return order.empty() ? "nothing" : stage.loops.loop(random_.of(order)).name;
  }
  std::string axis() { return axis_of(random_.chance(98) ? *stage_ : *random_.of(stages_)); }
  std::string first_axis() {
    const std::vector<std::size_t>& order = stage_->loops.order();
    return order.empty() ? "nothing" : stage_->loops.loop(order.front()).name;
  }
  // Returns an axis with a small constant extent, if there is one.
  std::string small_axis() {
    for (int i = 0; i < 6; ++i) {
      const std::vector<std::size_t>& order = stage_->loops.order();
      if (order.empty()) break;
      const schedule::Loop& loop = stage_->loops.loop(random_.of(order));
      const std::int64_t* extent = ir::as_int(loop.extent);
      if (extent != nullptr && *extent * copies_ <= kMaxCopies) return loop.name;
    }
    return random_.chance(10) && copies_ < 8 ? axis() : "nothing";
  }
  std::pair<std::string, std::string> neighbours() {
    const std::vector<std::size_t>& order = stage_->loops.order();
    if (order.size() < 2) return {axis(), axis()};
    const std::size_t at = random_.below(order.size() - 1);
    return {stage_->loops.loop(order[at]).name, stage_->loops.loop(order[at + 1]).name};
  }
  Args some_axes() {
    Args names;
    for (const std::size_t id : stage_->loops.order()) names.push_back(stage_->loops.loop(id).name);
    for (std::size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[random_.below(i)]);
    if (random_.chance(30) && names.size() > 2) names.pop_back();
    return names;
  }
  std::string factor() {
    return std::to_string(
        random_.of<std::int64_t>({1, 2, 2, 3, 4, 4, 5, 7, 8, 8, 9, 16, 16, 17, 24, 32, 33, 40, 65, 72}));
  }
  // Returns a split factor that leaves few enough iterations.
  std::string factor_of(const std::string& name) {
    std::int64_t all = 1, own = 1;
    for (const std::size_t id : stage_->loops.order()) {
      const std::int64_t count = std::max<std::int64_t>(1, iterations(stage_->loops.loop(id).extent));
      all *= count;
      if (stage_->loops.loop(id).name == name) own = count;
    }
    const std::string number = factor();
    const std::int64_t by = std::stoll(number);
    const std::int64_t then = all / own * ((own + by - 1) / by * by);
    return then > kSomeIterations + kTimesAsMany * points() ? "1" : number;
  }
  // Returns the number of points of the stage's domain as defined, including its reduction.
  std::int64_t points() const {
    std::int64_t all = 1;
    const ir::Reduce* reduce = stage_->reduction();
    for (const ir::Axis& axis : stage_->axes) all *= iterations(axis.extent);
    for (const ir::Axis& axis : reduce != nullptr ? reduce->axes : std::vector<ir::Axis>{})
      all *= iterations(axis.extent);
    return all;
  }
  std::int64_t iterations(const lang::Expr& extent) const {
    ir::Substitution values;
    for (const ir::Expr& var : ir::free_vars(extent)) {
      const auto size = sizes_.find(var.as<ir::Var>()->name);
      if (size != sizes_.end()) values[var.get()] = ir::Expr(size->second);
    }
    const ir::Expr value = passes::simplify(ir::substitute(extent, values));
    const std::int64_t* constant = ir::as_int(value);
    return constant == nullptr ? 1 : *constant;
  }
  std::string scope() { return random_.of<std::string>({"local", "global", "register"}); }
  std::string some_tensor() {
    Args names;
    for (const ScheduledStage* stage : stages_)
      for (const lang::Expr& value : stage->values)
        for (const ir::Load* load : analysis::loads_of(value)) names.push_back(load->buffer->name);
    return names.empty() ? stage_->name : random_.of(names);
  }
  Args layout() {
    const std::size_t rank = stage_->axes.size();
    std::string from, to;
    for (std::size_t d = 0; d < rank; ++d) from += (d == 0 ? "d" : ", d") + std::to_string(d);
    const std::size_t split = rank == 0 ? 0 : random_.below(rank);
    const std::string by = factor();
    std::vector<std::string> parts;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::string name = "d" + std::to_string(d);
      if (d != split || random_.chance(30)) {
        parts.push_back(name);
        continue;
      }
      parts.push_back(name + " / " + by);
      parts.push_back(name + " % " + by);
    }
    for (std::size_t i = parts.size(); i > 1; --i) std::swap(parts[i - 1], parts[random_.below(i)]);
    for (const std::string& part : parts) to += (to.empty() ? "" : ", ") + part;
    return schedule::parse_directives("transform_layout (" + from + ") -> (" + to + ")").directives.at(0).args;
  }

  Random& random_;
  const Sizes& sizes_;
  const schedule::Stages& all_;
  std::vector<const ScheduledStage*> stages_;
  const ScheduledStage* stage_ = nullptr;
  std::int64_t copies_ = 1;
};

// Returns the default schedule, or one of any other points of its spaces, whose text gives the same schedule.
Schedule decided_schedule(const lang::Program& program, const Target& target, const Sizes& sizes, Random& random) {
  const bool is_default = random.chance(30);
  const auto choose = [&](const autoschedule::Decision& decision) {
    std::map<std::string, autoschedule::KnobValue> values = decision.space.default_point().values();
    if (!is_default)
      for (const autoschedule::SpaceKnob& knob : decision.space.knobs) values[knob.name] = random.of(knob.candidates);
    return autoschedule::Point(std::move(values));
  };
  const Sizes known = autoschedule::sizes_of_space(program, target, random.chance(50) ? sizes : Sizes{});
  autoschedule::DecidedSchedule decided = autoschedule::decide_schedule(program, target, known, choose);
  // A point that is legal at these sizes alone belongs to no text.
  if (known.empty() || decided.at_sizes) {
    const std::string point = point_text(decided);
    if (autoschedule::schedule_at(program, target, known, {point}).to_text() != decided.schedule.to_text())
      throw std::runtime_error("the text of a point gives another schedule:\n" + point);
  }
  return std::move(decided.schedule);
}

}  // namespace

GeneratedSchedule generate_schedule(const lang::Program& program, const Target& target, const Sizes& sizes,
                                    Random& random, const ScheduleListener& listener) {
  GeneratedSchedule made{Schedule(program)};
  Schedule& schedule = made.schedule;
  std::int64_t wanted = random.between(1, 10);
  if (random.chance(15)) {
    schedule = decided_schedule(program, target, sizes, random);
    made.by_default = schedule.directives().size();
    for (const Directive& directive : schedule.directives()) listener.accepted(to_text(directive));
    wanted = random.chance(60) ? 0 : wanted + static_cast<std::int64_t>(made.by_default);
  }
  for (std::int64_t tries = 0; tries < 40; ++tries) {
    if (static_cast<std::int64_t>(schedule.directives().size()) >= wanted) break;
    const Directive directive = ScheduleGenerator(schedule, sizes, random).next();
    const std::string before = schedule.to_text(), text = to_text(directive);
    listener.trying(text);
    try {
      schedule.apply(directive);
      listener.accepted(text);
    } catch (const CompileError& error) {
      listener.refused(text, error.what());
      if (schedule.to_text() != before) throw std::runtime_error("a refusal changed the schedule: " + text);
    }
  }
  return made;
}

}  // namespace ferry::fuzz
