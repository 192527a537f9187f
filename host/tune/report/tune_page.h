// A page about one search: the best over time, the knobs of the best points, the best against the default, the cost
// model's estimates against times, and the roofline.
#pragma once

#include "host/tune/tune.h"

#include <string>
#include <vector>

namespace ferry::tune {

// A trial as TuneOptions::on_trial was told of it.
struct ShownTrial {
  TuneRecord record;
  double elapsed_seconds = 0;  // since the start
  double expected_share = 1;   // a network's time with the best that was known then, as a share of the default's
};

struct Predictions;

struct TunePage {
  const Tuned& tuned;
  const std::vector<ShownTrial>& trials;
  const Predictions& predictions;
  std::string version;  // ferry's
};

// Returns the page, which needs and runs nothing else.
std::string tune_page(const TunePage& page);

}  // namespace ferry::tune
