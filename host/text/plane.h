// The part of a chart that shows points by two quantities.
#pragma once

#include <string>

#include "host/text/chart.h"

namespace ferry::chart {

struct Plane {
  Axis x, y;
};

struct AxisTexts {
  std::string title;
  LabelsOf labels;
};

// Writes both axes with lines at their ticks, labels and titles into an image of this height. Of the axes that are
// given only the range and the scale count. Returns them where they are drawn.
Plane write_plane(html::Html& html, double height, const Axis& x, const AxisTexts& x_texts, const Axis& y,
                  const AxisTexts& y_texts);

}  // namespace ferry::chart
