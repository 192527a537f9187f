// A point of the space from which the default schedule of a program is chosen, as those see it who search the space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ferry {

struct PointKnob {
  std::string stage, name;
  std::vector<std::string> candidates;  // as points name them; numbers and tiles in ascending order
  std::size_t chosen = 0, default_index = 0;
  bool has_numbers = false;     // near candidates are alike
  bool has_labels = false;      // candidates may be names of axes, which differ from program to program
  bool is_for_threads = false;  // how threads share out the work
  bool is_held = false;         // a search leaves it as it is
};

// The decisions of a compiler at a point, kept for questions about it that need not decide again.
class DecidedPoint {
 public:
  virtual ~DecidedPoint() = default;
  // As KernelCompiler::estimated_cycles().
  virtual std::optional<double> estimated_cycles(std::uint32_t threads) const = 0;
};

struct SpacePoint {
  std::string text;              // "C: tile=4x2, order=rows_outside": the values of all knobs
  std::vector<PointKnob> knobs;  // in the order of the decisions that these values lead to
  std::uint64_t points = 0;      // product of the numbers of candidates, at most the largest uint64
  std::string schedule;          // the directives
  // Null if it is not known, and in points that are kept, because it is large.
  std::shared_ptr<const DecidedPoint> decided = {};
};

// Returns the candidates that a search tries.
inline std::span<const std::string> choices_of(const PointKnob& knob) {
  const std::span<const std::string> all = knob.candidates;
  return knob.is_held ? all.subspan(knob.chosen, 1) : all;
}

// Returns the values of all knobs in order, as PointText::in_order takes them: names have no part in them.
inline std::vector<std::string> values_in_order(const SpacePoint& point) {
  std::vector<std::string> values;
  for (const PointKnob& knob : point.knobs)
    values.push_back(knob.has_labels ? "#" + std::to_string(knob.chosen) : knob.candidates[knob.chosen]);
  return values;
}

}  // namespace ferry
