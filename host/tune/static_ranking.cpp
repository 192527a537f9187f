#include "host/tune/static_ranking.h"

#include "host/tune/search/modelled_points.h"
#include "host/tune/tuned_task.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace ferry::tune {

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
                        .default_cycles = *by_default};
  for (std::size_t i = 0; i < std::min(count, ranked.size()); ++i) ranking.best.push_back(std::move(ranked[i]));
  ranking.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return ranking;
}

}  // namespace ferry::tune
