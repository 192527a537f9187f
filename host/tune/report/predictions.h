// The cost model's estimates of what a search has measured.
#pragma once

#include "host/text/html.h"
#include "host/tune/report/tune_page.h"

#include <optional>
#include <string>
#include <vector>

namespace ferry::tune {

struct PredictedPoint {
  double cycles = 0;  // the model's estimate of a call on one core
  double share = 1;   // its measured time, as a share of the default's a short while before
};

struct Predictions {
  std::vector<PredictedPoint> points = {};  // those that were measured, in the order of the trials
  std::optional<PredictedPoint> by_default = {}, best = {};
  std::string missing = {};  // a sentence that says why there are no points
};

// Estimates the points of the trials, on all processors.
Predictions predictions_of(const Tuned& tuned, const std::vector<ShownTrial>& trials);

// Draws the estimates against the times, or says why there are none.
void write_predictions(html::Html& html, const Predictions& predictions);

}  // namespace ferry::tune
