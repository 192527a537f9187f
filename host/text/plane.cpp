#include "host/text/plane.h"

#include <cstddef>

namespace ferry::chart {

Plane write_plane(html::Html& html, double height, const Axis& x, const AxisTexts& x_texts, const Axis& y,
                  const AxisTexts& y_texts) {
  // A line of text above the plane has the title of the vertical axis; two below have the labels and the title of the
  // horizontal one.
  constexpr double kLine = 18;
  const double top = kTop + kLine, bottom = height - kBottom - kLine;
  Plane plane{x, y};
  plane.y.from = bottom;
  plane.y.to = top;
  plane.x.to = kWidth - kRight;
  plane.x.from = write_vertical_axis(html, plane.y, y_texts.labels, plane.x.to);
  write_text(html, y_texts.title, plane.x.from, kTop, "start");
  const Ticks ticks = horizontal_ticks(plane.x, x_texts.labels);
  for (std::size_t t = 0; t < ticks.values.size(); ++t) {
    const double at = plane.x.place(ticks.values[t]);
    write_line(html, "grid", at, top, at, bottom);
    write_text(html, ticks.labels[t], at, bottom + kLine, "middle");
  }
  write_text(html, x_texts.title, (plane.x.from + plane.x.to) / 2, height - 8, "middle");
  return plane;
}

}  // namespace ferry::chart
