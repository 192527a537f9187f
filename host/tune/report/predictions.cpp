#include "host/tune/report/predictions.h"

#include "base/parallel_for.h"
#include "base/quantity_text.h"
#include "host/stats/rank_correlation.h"
#include "host/text/plane.h"
#include "host/tune/tuned_task.h"

#include <algorithm>
#include <cstdio>

namespace ferry::tune {

namespace {

using namespace chart;

constexpr double kPredictionsHeight = 340;
// Two points are always in order, or in reverse.
constexpr std::size_t kLeastForCorrelation = 3;

const char* const kNoEstimates = "The cost model has no estimates for this target or for open sizes.";

std::optional<double> cycles_of(const TunedTask& task, const std::optional<SpacePoint>& point) {
  return point ? task.cycles_at(*point) : std::nullopt;
}

Axis axis_of(const Predictions& predictions, double PredictedPoint::* value) {
  std::vector<double> values;
  for (const PredictedPoint& point : predictions.points) values.push_back(point.*value);
  for (const auto& marked : {predictions.by_default, predictions.best})
    if (marked) values.push_back((*marked).*value);
  return axis_around(values, 0, 1, Scale::logarithmic);
}

std::string summary_of(const Predictions& predictions) {
  const std::vector<PredictedPoint>& points = predictions.points;
  const std::string schedules = count_text(points.size()) + (points.size() == 1 ? " schedule" : " schedules");
  if (points.size() < kLeastForCorrelation)
    return schedules + " with an estimate and a time: too few for a correlation.";
  std::vector<double> cycles, shares;
  for (const PredictedPoint& point : points) cycles.push_back(point.cycles), shares.push_back(point.share);
  char correlation[32];
  std::snprintf(correlation, sizeof correlation, "%.2f", stats::rank_correlation(cycles, shares));
  return "Spearman's rank correlation of the estimates with the times of " + schedules + " is " + correlation + ".";
}

// Draws the times that would be in proportion to the estimates, as far as they are within the plane.
void write_proportion(html::Html& html, const Plane& plane, const PredictedPoint& through) {
  const double share_per_cycle = through.share / through.cycles;
  const double low = std::max(plane.x.low, plane.y.low / share_per_cycle);
  const double high = std::min(plane.x.high, plane.y.high / share_per_cycle);
  // Straight, because both axes are logarithmic.
  write_line(html, "tolerance", plane.x.place(low), plane.y.place(low * share_per_cycle), plane.x.place(high),
             plane.y.place(high * share_per_cycle));
}

void mark_point(html::Html& html, const Plane& plane, const PredictedPoint& point, bool is_best) {
  const double x = plane.x.place(point.cycles), y = plane.y.place(point.share);
  const auto group = html.open("g", {{"class", is_best ? "current" : "baseline"}});
  html.element("path", "", {{"class", "dots"}, {"d", is_best ? diamond(x, y) : circle(x, y)}});
  // Close ones can be read if their names are on different sides.
  constexpr double kRoom = 90;
  const bool is_right = is_best || x - plane.x.from < kRoom;
  write_text(html, is_best ? "best" : "default", is_right ? x + 8 : x - 8, is_best ? y + 12 : y - 6,
             is_right ? "start" : "end", "name over");
}

}  // namespace

Predictions predictions_of(const Tuned& tuned, const std::vector<ShownTrial>& trials) {
  Predictions found;
  std::vector<const TuneRecord*> measured;
  for (const ShownTrial& trial : trials)
    if (share_of_default(trial.record)) measured.push_back(&trial.record);
  if (tuned.task == nullptr || measured.empty()) return found;
  const TunedTask& task = *tuned.task;
  const std::optional<double> by_default = cycles_of(task, task.space_at(PointValues()));
  if (!by_default) {
    found.missing = kNoEstimates;
    return found;
  }
  found.by_default = PredictedPoint{*by_default, 1};
  std::vector<std::optional<double>> cycles(measured.size());
  parallel_for(measured.size(),
               [&](std::size_t i) { cycles[i] = cycles_of(task, task.space_at(measured[i]->values)); });
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (!cycles[i]) continue;
    found.points.push_back({*cycles[i], *share_of_default(*measured[i])});
    if (measured[i]->values == tuned.best.values) found.best = found.points.back();
  }
  return found;
}

void write_predictions(html::Html& html, const Predictions& predictions) {
  if (predictions.points.empty() && predictions.missing.empty()) return;
  html.element("h2", "The cost model");
  if (predictions.points.empty()) {
    html.element("p", predictions.missing);
    return;
  }
  const std::string summary = summary_of(predictions);
  const std::string details =
      " Each mark is a schedule that was measured to the end. On the dashed line through the default, times are in "
      "proportion to the estimates; both axes are logarithmic.";
  write_figure(html, kPredictionsHeight, {"predictions", "Estimates and times", summary, summary + details}, [&] {
    const Plane plane = write_plane(html, kPredictionsHeight, axis_of(predictions, &PredictedPoint::cycles),
                                    {"Estimate of the cost model, in cycles of a call", count_labels},
                                    axis_of(predictions, &PredictedPoint::share),
                                    {"Measured time, as a share of the default's", share_labels});
    std::string dots;
    for (const PredictedPoint& point : predictions.points)
      dots += circle(plane.x.place(point.cycles), plane.y.place(point.share));
    html.element("path", "", {{"class", "course"}, {"d", dots}});
    if (predictions.by_default) {
      write_proportion(html, plane, *predictions.by_default);
      mark_point(html, plane, *predictions.by_default, false);
    }
    if (predictions.best) mark_point(html, plane, *predictions.best, true);
  });
}

}  // namespace ferry::tune
