#include "host/gate/report/drawing.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"

namespace ferry::gate::drawing {

std::string coordinate(double value) { return format("%.1f", value); }

void write_line(html::Html& html, const char* style, double x1, double y1, double x2, double y2) {
  html.element("line", "",
               {{"class", style},
                {"x1", coordinate(x1)},
                {"y1", coordinate(y1)},
                {"x2", coordinate(x2)},
                {"y2", coordinate(y2)}});
}

void write_text(html::Html& html, const std::string& text, double x, double y, const char* anchor, const char* style) {
  html.element("text", text, {{"class", style}, {"x", coordinate(x)}, {"y", coordinate(y)}, {"text-anchor", anchor}});
}

std::string circle(double x, double y) { return format("M%.1f %.1fa3 3 0 1 0 6 0 3 3 0 1 0-6 0z", x - 3, y); }
std::string diamond(double x, double y) { return format("M%.1f %.1fl4 4-4 4-4-4z", x, y - 4); }

Image::Image(html::Html& html, double height, const std::string& id, const std::string& title,
             const std::string& description)
    : figure_(html.open("figure")),
      svg_(html.open("svg", {{"viewBox", format("0 0 %.0f %.0f", kWidth, height)},
                             {"role", "img"},
                             {"aria-labelledby", id + "-title"},
                             {"aria-describedby", id + "-text"}})) {
  html.element("title", title, {{"id", id + "-title"}});
  html.element("desc", description, {{"id", id + "-text"}});
}

std::vector<std::string> time_labels(const std::vector<double>& ticks) {
  std::vector<std::string> labels;
  if (ticks.empty()) return labels;
  const double most = std::max(std::abs(ticks.front()), std::abs(ticks.back()));
  const double scale = most < 999.5e-9 ? 1e9 : most < 999.5e-6 ? 1e6 : most < 999.5e-3 ? 1e3 : 1;
  const char* unit = scale == 1e9 ? "ns" : scale == 1e6 ? "us" : scale == 1e3 ? "ms" : "s";
  const double step = ticks.size() > 1 ? (ticks[1] - ticks[0]) * scale : 1;
  const int digits = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 9);
  for (const double tick : ticks) labels.push_back(format("%.*f %s", digits, tick * scale, unit));
  return labels;
}

}  // namespace ferry::gate::drawing
