#include "host/autoschedule/epilogue_fusion.h"

#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/epilogue.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace ferry::autoschedule {

using schedule::ComputeKind;
using schedule::Directive;
using schedule::Loop;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;
using schedule::Stages;

namespace {

// Maps loop names of one stage to those of another. Both have the same axes under different names, and loops split from
// an axis are called NAME.outer and NAME.inner.
class LoopNames {
 public:
  LoopNames(const ScheduledStage& from, const ScheduledStage& to) {
    for (std::size_t a = 0; a < from.axes.size(); ++a)
      pairs_.emplace_back(from.loops.loop(from.loops.spatial(a)).name, to.loops.loop(to.loops.spatial(a)).name);
  }

  // Returns nothing for a loop of a reduction.
  std::optional<std::string> of(const std::string& name) const {
    for (const auto& [from, to] : pairs_) {
      const std::string_view rest = std::string_view(name).substr(std::min(name.size(), from.size()));
      if (name.compare(0, from.size(), from) == 0 && (rest.empty() || rest.front() == '.'))
        return to + std::string(rest);
    }
    return std::nullopt;
  }

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

// Whether a directive makes loops over results that another stage with the same axes may also have.
bool makes_loops(const std::string& primitive) {
  return primitive == "split" || primitive == "reorder" || primitive == "unroll" || primitive == "vectorize" ||
         primitive == "tensorize";
}

std::string innermost_result(const Schedule& schedule, const std::string& stage) {
  std::string name;
  const StageLoops& loops = find_stage(schedule.stages(), stage)->loops;
  for (const std::size_t id : loops.order())
    if (!loops.loop(id).reduces) name = loops.loop(id).name;
  return name;
}

// Gives `to` the loops over results that the directives from `first` on made for `from`.
void copy_loops(Schedule& schedule, std::size_t first, const std::string& from, const std::string& to) {
  const LoopNames names(*find_stage(schedule.stages(), from), *find_stage(schedule.stages(), to));
  StageHandle handle = schedule[to];
  const std::vector<Directive> directives(schedule.directives().begin() + static_cast<std::ptrdiff_t>(first),
                                          schedule.directives().end());
  for (const Directive& directive : directives) {
    if (directive.stage != from || !makes_loops(directive.primitive)) continue;
    const bool orders = directive.primitive == "reorder";
    if (directive.primitive == "tensorize") {
      // The lanes of the sums are vectors of results.
      if (const auto lanes = names.of(innermost_result(schedule, from))) handle.vectorize(*lanes);
      continue;
    }
    std::vector<std::string> args;
    for (std::size_t i = 0; i < directive.args.size(); ++i) {
      // Factors are unchanged.
      const std::optional<std::string> word =
          orders || i == 0 ? names.of(directive.args[i]) : std::optional(directive.args[i]);
      if (word) args.push_back(*word);
    }
    if (orders ? args.size() > 1 : args.size() == directive.args.size()) handle.apply(directive.primitive, args);
  }
}

// The innermost loop over results around the reduction, and whether there are vectors of results inside it.
struct Tile {
  std::optional<std::size_t> around;
  bool has_vectors = false;
};

Tile tile_of(const StageLoops& loops) {
  Tile tile;
  bool inside = false;
  for (const std::size_t id : loops.order()) {
    const Loop& loop = loops.loop(id);
    inside |= loop.reduces;
    if (!inside)
      tile.around = id;
    else if (!loop.reduces)
      tile.has_vectors |= loop.kind == ir::ForKind::vectorized;
  }
  return tile;
}

}  // namespace

std::vector<std::string> epilogue_stages(const Stages& stages, const ScheduledStage& stage,
                                         const std::string& stop_before) {
  std::vector<std::string> names;
  const ScheduledStage* last = &stage;
  while (true) {
    const std::string next = epilogue_stage(stages, *last);
    if (next.empty() || next == stop_before) return names;
    names.push_back(next);
    last = find_stage(stages, next);
  }
}

bool fuse_into_epilogues(Schedule& schedule, const std::string& stage, std::size_t first,
                         const std::vector<std::string>& epilogues) {
  const ScheduledStage& from = *find_stage(schedule.stages(), stage);
  const Tile tile = tile_of(from.loops);
  if (!tile.around || !tile.has_vectors || from.compute_kind != ComputeKind::root) return false;
  const LoopNames names(from, *find_stage(schedule.stages(), epilogues.back()));
  copy_loops(schedule, first, stage, epilogues.back());
  schedule[stage].compute_at(epilogues.back(), *names.of(from.loops.loop(*tile.around).name));
  compute_between(schedule, stage, first, epilogues);
  return true;
}

Scheduled with_epilogues(Schedule& schedule, const std::string& stage, std::size_t first,
                         const std::vector<std::string>& epilogues) {
  if (epilogues.empty() || !fuse_into_epilogues(schedule, stage, first, epilogues)) return {.outermost = stage};
  return {.epilogues = epilogues, .outermost = epilogues.back()};
}

void compute_between(Schedule& schedule, const std::string& stage, std::size_t first,
                     const std::vector<std::string>& epilogues) {
  const std::string& last = epilogues.back();
  const std::size_t loop = find_stage(schedule.stages(), stage)->compute_at.loop;
  const std::string around = find_stage(schedule.stages(), last)->loops.loop(loop).name;
  for (std::size_t i = 0; i + 1 < epilogues.size(); ++i) {
    copy_loops(schedule, first, last, epilogues[i]);
    schedule[epilogues[i]].compute_at(last, around);
  }
}

}  // namespace ferry::autoschedule
