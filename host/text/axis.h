// An axis of a chart.
#pragma once

#include <vector>

namespace ferry::chart {

// Equal distances are equal differences, or equal ratios.
enum class Scale { linear, logarithmic };

// A range of values, and where its ends are drawn.
struct Axis {
  double low = 0, high = 1;  // above 0 on a logarithmic axis
  double from = 0, to = 1;
  Scale scale = Scale::linear;

  // Values beyond the ends are drawn at the ends.
  double place(double value) const;
  // About `count` round values: multiples of 1, 2 or 5 times a power of ten. On a logarithmic axis they are 1, 2 and 5
  // times each power of ten, or only powers of ten if those are too many, or multiples as on a linear one if the range
  // has hardly any of them.
  std::vector<double> ticks(int count) const;
};

// Returns a range that shows these values, which must be finite. It is never empty.
// A linear one shows all but those that lie so far away that the others could not be told apart, and begins below 0
// only if a value does. A logarithmic one shows all positive values.
Axis axis_around(std::vector<double> values, double from, double to, Scale scale = Scale::linear);

// Returns the logarithmic scale for positive values if the largest is more than ten times the smallest.
Scale scale_for(const std::vector<double>& values);

}  // namespace ferry::chart
