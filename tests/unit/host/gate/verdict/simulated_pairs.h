// Simulated noise of machines: what pairs would measure.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "host/stats/random.h"
#include "host/stats/summary.h"

namespace ferry::test {

// How it is chosen which process of a pair comes first.
enum class Roles {
  drawn,     // at random in each pair
  mirrored,  // at random in each odd pair, and the other way round in the next one
};

using Series = std::vector<double>;
using Draw = std::function<Series(stats::Random&, std::size_t count)>;

// Returns what `count` pairs measure if no side is slower. `times` draws the logarithms of the times of processes that
// run one after the other, whatever their module.
inline Series log_ratios_of(const Draw& times, stats::Random& random, std::size_t count, Roles roles = Roles::drawn) {
  const Series all = times(random, 2 * count);
  Series log_ratios;
  bool current_first = false;
  for (std::size_t i = 0; i < count; ++i) {
    current_first = roles == Roles::mirrored && i % 2 == 1 ? !current_first : random.below(2) == 1;
    const double difference = all[2 * i] - all[2 * i + 1];
    log_ratios.push_back(current_first ? difference : -difference);
  }
  return log_ratios;
}

inline Draw normal(double deviation) {
  return [deviation](stats::Random& random, std::size_t count) {
    Series values(count);
    for (double& value : values) value = deviation * random.normal();
    return values;
  };
}

// Skewed: most values lie closely together, a few far above (skewness 6).
inline Draw lognormal(double deviation) {
  return [deviation](stats::Random& random, std::size_t count) {
    const double mean = std::exp(0.5), unit = mean * std::sqrt(std::exp(1) - 1);
    Series values(count);
    for (double& value : values) value = deviation * (std::exp(random.normal()) - mean) / unit;
    return values;
  };
}

// Each value resembles the previous one.
inline Draw autoregressive(double deviation, double memory) {
  return [=](stats::Random& random, std::size_t count) {
    Series values(count);
    double state = random.normal();
    for (double& value : values) {
      value = deviation * state;
      state = memory * state + std::sqrt(1 - memory * memory) * random.normal();
    }
    return values;
  };
}

// The machine has two speeds, and keeps the one that it has with the probability `persistence`.
inline Draw two_speeds(double deviation, double step, double persistence) {
  return [=](stats::Random& random, std::size_t count) {
    Series values(count);
    bool is_slow = random.below(2) == 1;
    for (double& value : values) {
      if (random.uniform() >= persistence) is_slow = random.below(2) == 1;
      value = (is_slow ? step : 0) + deviation * random.normal();
    }
    return values;
  };
}

// Some processes are disturbed.
inline Draw spikes(double deviation) {
  return [deviation](stats::Random& random, std::size_t count) {
    Series values(count);
    for (double& value : values) {
      value = deviation * random.normal();
      if (random.uniform() < 0.07) value += std::log1p(-0.1 * std::log1p(-random.uniform()));
    }
    return values;
  };
}

// Student's t; with one or two degrees of freedom there is no variance.
inline Draw heavy_tails(double scale, int degrees) {
  return [=](stats::Random& random, std::size_t count) {
    Series values(count);
    for (double& value : values) {
      double squares = 0;
      for (int i = 0; i < degrees; ++i) squares += std::pow(random.normal(), 2);
      value = scale * random.normal() / std::sqrt(squares / degrees);
    }
    return values;
  };
}

// Adds a function of the index and the count.
inline Draw plus(const Draw& noise, const std::function<double(std::size_t, std::size_t)>& trend) {
  return [=](stats::Random& random, std::size_t count) {
    Series values = noise(random, count);
    for (std::size_t i = 0; i < count; ++i) values[i] += trend(i, count);
    return values;
  };
}

struct NoiseModel {
  std::string name;
  Draw log_ratios;  // draws a pair's log-ratio
};

inline NoiseModel of_times(const std::string& name, const Draw& times, Roles roles = Roles::drawn) {
  return {name, [=](stats::Random& random, std::size_t count) { return log_ratios_of(times, random, count, roles); }};
}

// What pairs measure whose process runs both modules in turns, as the gate's do: each draws its `samples` as the median
// of the log-ratios of neighbouring turns. `times` draws the logarithms of the times of turns, which run on from
// process to process. The order of a round's two turns is the opposite of the previous round's.
inline NoiseModel of_turns(const std::string& name, const Draw& times, std::size_t samples) {
  return {name, [=](stats::Random& random, std::size_t count) {
            const Series all = times(random, 2 * samples * count);
            Series log_ratios, rounds(samples);
            for (std::size_t pair = 0; pair < count; ++pair) {
              bool current_first = random.below(2) == 1;
              for (std::size_t i = 0; i < samples; ++i, current_first = !current_first) {
                const double* turns = &all[2 * (pair * samples + i)];
                rounds[i] = current_first ? turns[0] - turns[1] : turns[1] - turns[0];
              }
              log_ratios.push_back(stats::median(rounds));
            }
            return log_ratios;
          }};
}

// Noise under which the promised rate of false alarms must hold.
inline std::vector<NoiseModel> machine_noise() {
  constexpr std::size_t kTurns = 8;  // turns of each module; the median of a real process's 40 varies less
  const auto ramp = [](std::size_t i, std::size_t count) {
    return 0.05 * static_cast<double>(i) / static_cast<double>(count);
  };
  const auto wave = [](std::size_t i, std::size_t) { return 0.02 * std::sin(static_cast<double>(i) / 6); };
  const auto second_is_slower = [](std::size_t i, std::size_t) { return i % 2 == 1 ? 0.01 : 0.0; };
  return {
      of_times("normal", normal(0.01)),
      of_times("skewed (lognormal)", lognormal(0.01)),
      of_times("drift of 5%", plus(normal(0.01), ramp)),
      of_times("drift of 5%, little noise", plus(normal(0.0005), ramp)),
      of_times("slow wave of 2%", plus(normal(0.005), wave)),
      of_times("the second process is slower by 1%", plus(normal(0.005), second_is_slower)),
      of_times("the same, roles mirrored", plus(normal(0.005), second_is_slower), Roles::mirrored),
      of_times("two speeds, each module in each process", two_speeds(0.001, 0.05, 0)),
      of_times("two speeds, lasting 10 modules in processes", two_speeds(0.001, 0.05, 0.9)),
      of_turns("two speeds, each turn", two_speeds(0.001, 0.05, 0), kTurns),
      of_turns("two speeds, lasting 10 turns", two_speeds(0.001, 0.05, 0.9), kTurns),
      of_turns("two speeds, lasting 10 processes", two_speeds(0.001, 0.05, 1 - 0.1 / (2 * kTurns)), kTurns),
      of_times("correlated times (0.3)", autoregressive(0.01, 0.3)),
      of_times("correlated times (0.9)", autoregressive(0.01, 0.9)),
      of_times("spikes", spikes(0.01)),
      of_turns("spikes, each turn", spikes(0.01), kTurns),
      of_times("heavy tails (t with 2 degrees)", heavy_tails(0.01, 2)),
      of_times("heavier tails (Cauchy)", heavy_tails(0.01, 1)),
      {"correlated ratios (0.3)", autoregressive(0.01, 0.3)},
  };
}

}  // namespace ferry::test
