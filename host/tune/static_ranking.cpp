#include "host/tune/static_ranking.h"

#include "base/parallel_for.h"
#include "host/tune/search/modelled_points.h"
#include "host/tune/tuned_task.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ferry::tune {

namespace {

// Points with the same directives have the same code. The user's own schedule has the same text at each.
std::string schedule_of(const TunedTask& task, const SpacePoint& point) {
  return task.knobs.empty() ? point.schedule : point.text;
}

// Compiles the default and the best schedules, and puts them into the order of their code.
void rank_by_code(const TunedTask& task, StaticRanking& ranking) {
  std::vector<RankedPoint>& points = ranking.best;
  std::vector<const SpacePoint*> compiled = {&ranking.by_default.point};
  std::map<std::string, std::size_t> numbers = {{schedule_of(task, *compiled[0]), 0}};
  std::size_t candidates = 0;
  for (; candidates < points.size(); ++candidates) {
    const SpacePoint& point = points[candidates].point;
    const std::string schedule = schedule_of(task, point);
    if (numbers.contains(schedule)) continue;
    if (compiled.size() > kCompiledSchedules) break;
    numbers[schedule] = compiled.size();
    compiled.push_back(&point);
  }
  std::vector<std::optional<double>> cycles(compiled.size());
  parallel_for(compiled.size(), [&](std::size_t i) { cycles[i] = task.code_cycles_at(*compiled[i]); });
  if (!cycles[0]) return;
  ranking.by_default.code_cycles = cycles[0];
  for (std::size_t i = 0; i < candidates; ++i)
    points[i].code_cycles = cycles[numbers.at(schedule_of(task, points[i].point))];
  std::stable_sort(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(candidates),
                   [](const RankedPoint& a, const RankedPoint& b) {
                     if (!a.code_cycles || !b.code_cycles) return a.code_cycles.has_value() > b.code_cycles.has_value();
                     return *a.code_cycles < *b.code_cycles;
                   });
}

}  // namespace

StaticRanking rank_statically(const TunedKernel& kernel, const Target& target, const TuneOptions& options,
                              std::size_t count) {
  const auto start = std::chrono::steady_clock::now();
  if (options.open_sizes) throw UsageError("--static: expected fixed sizes, without --open");
  const TunedTask task = task_of(kernel, target, options);
  const SpaceAt space = [&](const PointValues& values) { return task.space_at(values); };
  const std::optional<SpacePoint> first = space({});
  if (!first || first->knobs.empty())
    throw UsageError(task.function + ": the default schedule has no knobs, so there is nothing to rank");
  Costs costs([&](const SpacePoint& point) { return task.cycles_at(point); });
  const std::optional<double> by_default = costs.of(*first);
  if (!by_default)
    throw UsageError(task.function + ": expected a CPU as the target of --static, got '" + target.text + "'");
  stats::Random random(options.seed);
  const std::uint64_t whole = options.has_trials_limit ? options.trials : kMostRanked;
  std::vector<ModelledPoint> ranked =
      modelled_points(space, costs, random, {whole, std::numeric_limits<std::uint64_t>::max()}, Ranking::parallel);
  StaticRanking ranking{.function = task.function,
                        .sizes = task.sizes,
                        .target = target.text,
                        .points = first->points,
                        .estimated = ranked.size(),
                        .by_default = {*by_default, {}, *first}};
  for (ModelledPoint& one : ranked) ranking.best.push_back({one.cost, {}, std::move(one.point)});
  rank_by_code(task, ranking);
  ranking.best.resize(std::min(count, ranking.best.size()));
  ranking.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return ranking;
}

}  // namespace ferry::tune
