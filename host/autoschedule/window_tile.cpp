#include "host/autoschedule/window_tile.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "host/autoschedule/default_loops.h"

#include <algorithm>
#include <cmath>

namespace ferry::autoschedule {

using namespace ir;
using schedule::ScheduledStage;

namespace {

// Instructions of a loop's iteration besides those of the tile.
constexpr double kIteration = 2;
// Cycles until a multiply-add has its result.
constexpr std::int64_t kLatency = 4;
// Cost factor of a row whose last tile is shorter.
constexpr double kTail = 0.88;

bool depends(const Load& load, const Expr& var) {
  return std::ranges::any_of(load.indices, [&](const Expr& index) { return uses_var(index, var); });
}

// Returns how far the index moves from one value of the variable to the next; 0 if that is no constant.
std::int64_t step_of(const Expr& index, const Expr& var) {
  const Expr step = passes::simplify(substitute(index, {{var.get(), var + 1}}) - index);
  const std::int64_t* number = as_int(step);
  return number == nullptr ? 0 : *number;
}

double tile_cost(std::int64_t pixels, const SlidingWindow& window, const Target& target) {
  const auto registers = static_cast<std::int64_t>(target.vector_registers);
  const std::int64_t points = window.height * window.width;
  std::int64_t elements = pixels * window.width;  // read in each row of the window
  if (window.stride < window.width) {
    const std::int64_t all = (pixels - 1) * window.stride + window.width;
    const std::int64_t kept = std::clamp<std::int64_t>(registers - 1 - pixels, 0, pixels);
    elements = std::min(elements, all + (pixels - kept) * (window.width - 1));
  }
  const bool loads_filters = window.has_filters && 2 * pixels + points > registers;
  const std::int64_t sums = points * std::max(pixels, kLatency);
  return static_cast<double>(sums + window.height * elements + (loads_filters ? points : 0)) + kIteration;
}

double row_cost(std::int64_t row, std::int64_t pixels, const SlidingWindow& window, const Target& target) {
  const double cost = static_cast<double>(row / pixels) * tile_cost(pixels, window, target);
  const std::int64_t rest = row % pixels;
  return rest == 0 ? cost : (cost + tile_cost(rest, window, target)) / kTail;
}

}  // namespace

SlidingWindow sliding_window(const ScheduledStage& stage) {
  const Expr& pixel = stage.axes[stage.axes.size() - 2].var;
  const Reduce& reduce = *stage.reduction();
  std::int64_t points = 1;
  for (const Axis& axis : reduce.axes) points *= constant_extent(axis.extent);
  SlidingWindow window;
  window.width = std::lround(std::sqrt(static_cast<double>(points)));
  for (const Load* load : analysis::loads_of(reduce.sources[0])) {
    if (!depends(*load, pixel)) {
      window.has_filters |=
          std::ranges::any_of(reduce.axes, [&](const Axis& axis) { return depends(*load, axis.var); });
      continue;
    }
    for (const Expr& index : load->indices) {
      if (!uses_var(index, pixel)) continue;
      window.stride = std::max(window.stride, step_of(index, pixel));
      for (const Axis& axis : reduce.axes)
        if (reduce.axes.size() > 1 && uses_var(index, axis.var)) window.width = constant_extent(axis.extent);
    }
  }
  window.height = std::max<std::int64_t>(points / window.width, 1);
  return window;
}

std::int64_t choose_window_tile(std::int64_t row, const SlidingWindow& window, std::int64_t most,
                                const Target& target) {
  std::int64_t best = 1;
  double best_cost = row_cost(row, 1, window, target);
  for (std::int64_t pixels = 2; pixels <= std::min(most, row); ++pixels) {
    const double cost = row_cost(row, pixels, window, target);
    if (cost > best_cost) continue;
    best = pixels;
    best_cost = cost;
  }
  return best;
}

}  // namespace ferry::autoschedule
