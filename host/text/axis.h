// An axis of a chart.
#pragma once

#include <vector>

namespace ferry::chart {

// A range of values, and where its ends are drawn.
struct Axis {
  double low = 0, high = 1;
  double from = 0, to = 1;

  // Values beyond the ends are drawn at the ends.
  double place(double value) const;
  // About `count` round values: multiples of 1, 2 or 5 times a power of ten.
  std::vector<double> ticks(int count) const;
};

// Returns a range that shows these values, which must be finite: all but those that lie so far away that the others
// could not be told apart. It is never empty, and begins below 0 only if a value does.
Axis axis_around(std::vector<double> values, double from, double to);

}  // namespace ferry::chart
