// Simulated timings with a known true median, which model the disturbances of real machines.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "host/stats/random.h"
#include "host/stats/summary.h"

namespace ferry::test {

// Returns how many cases a rate is taken from: more with FERRY_STATS_ALL, as in stats_long_test.
inline int trials_of(int count) { return std::getenv("FERRY_STATS_ALL") != nullptr ? 4 * count : count; }

struct NoiseModel {
  std::string name;
  std::function<std::vector<double>(stats::Random&, std::size_t)> draw;
  double truth = 0;
  bool independent = true;  // whether each sample is independent of the previous ones
};

// Samples with a short tail, and occasionally one that was interrupted.
inline std::vector<double> spiky(stats::Random& random, std::size_t count) {
  std::vector<double> samples(count);
  for (double& sample : samples) {
    sample = std::exp(0.05 * random.normal());
    if (random.uniform() < 0.07) sample *= 1 - std::log(1 - random.uniform());
  }
  return samples;
}

// Samples at two frequencies, or with two placements in a cache.
inline std::vector<double> two_speeds(stats::Random& random, std::size_t count) {
  std::vector<double> samples(count);
  for (double& sample : samples) sample = (random.uniform() < 0.35 ? 1.2 : 1.0) * (1 + 0.01 * random.normal());
  return samples;
}

// Each sample resembles the previous one, as with a drifting frequency or an intermittent neighbour.
inline std::vector<double> wandering(stats::Random& random, std::size_t count, double memory) {
  std::vector<double> samples(count);
  double state = random.normal();
  for (double& sample : samples) {
    sample = std::exp(0.03 * state);
    state = memory * state + std::sqrt(1 - memory * memory) * random.normal();
  }
  return samples;
}

inline std::vector<NoiseModel> noise_models() {
  std::vector<NoiseModel> models = {{"lognormal with spikes", spiky}, {"two speeds", two_speeds}};
  for (NoiseModel& model : models) {
    stats::Random random(99);
    model.truth = stats::median(model.draw(random, 400'000));
  }
  for (const double memory : {0.5, 0.7}) {
    const auto draw = [memory](stats::Random& random, std::size_t count) { return wandering(random, count, memory); };
    models.push_back({"wandering, correlation " + std::to_string(memory).substr(0, 3), draw, 1.0, false});
  }
  return models;
}

}  // namespace ferry::test
