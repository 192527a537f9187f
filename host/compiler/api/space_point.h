// A point of the space from which the default schedule of a program is chosen, as those see it who search the space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ferry {

struct PointKnob {
  std::string stage, name;
  std::vector<std::string> candidates;  // as points name them; numbers and tiles in ascending order
  std::size_t chosen = 0, default_index = 0;
  bool has_numbers = false;  // near candidates are alike
  bool has_labels = false;   // candidates may be names of axes, which differ from program to program
};

struct SpacePoint {
  std::string text;              // "C: tile=4x2, order=rows_outside": the values of all knobs
  std::vector<PointKnob> knobs;  // in the order of the decisions that these values lead to
  std::uint64_t points = 0;      // product of the numbers of candidates, at most the largest uint64
  std::string schedule;          // the directives
};

// Returns the values of all knobs in order, as PointText::in_order takes them: names have no part in them.
inline std::vector<std::string> values_in_order(const SpacePoint& point) {
  std::vector<std::string> values;
  for (const PointKnob& knob : point.knobs)
    values.push_back(knob.has_labels ? "#" + std::to_string(knob.chosen) : knob.candidates[knob.chosen]);
  return values;
}

}  // namespace ferry
