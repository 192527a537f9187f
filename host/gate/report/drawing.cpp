#include "host/gate/report/drawing.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"

namespace ferry::gate::drawing {

namespace {

// A character of a label is at most as wide as this, also in the larger letters of small screens.
constexpr double kCharacterWidth = 11;

double largest(const std::vector<double>& ticks) {
  return ticks.empty() ? 0 : std::max(std::abs(ticks.front()), std::abs(ticks.back()));
}

std::vector<std::string> labels_in(const std::vector<double>& ticks, double scale, const char* unit) {
  const double step = ticks.size() > 1 ? (ticks[1] - ticks[0]) * scale : 1;
  const int digits = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 9);
  std::vector<std::string> labels;
  for (const double tick : ticks) labels.push_back(format("%.*f%s", digits, tick * scale, unit));
  return labels;
}

}  // namespace

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

double left_of(const std::vector<std::string>& labels) {
  std::size_t longest = 0;
  for (const std::string& label : labels) longest = std::max(longest, label.size());
  return std::max(kLeft, 8 + kCharacterWidth * static_cast<double>(longest));
}

std::vector<std::string> count_labels(const std::vector<double>& ticks) {
  const double most = largest(ticks);
  // Five digits are as easy to read as they are.
  if (most < 1e5) return labels_in(ticks, 1, "");
  if (most < 1e6) return labels_in(ticks, 1e-3, "k");
  if (most < 1e9) return labels_in(ticks, 1e-6, "M");
  return most < 1e12 ? labels_in(ticks, 1e-9, "G") : labels_in(ticks, 1e-12, "T");
}

std::vector<std::string> time_labels(const std::vector<double>& ticks) {
  const double most = largest(ticks);
  if (most < 999.5e-9) return labels_in(ticks, 1e9, " ns");
  if (most < 999.5e-6) return labels_in(ticks, 1e6, " us");
  return most < 999.5e-3 ? labels_in(ticks, 1e3, " ms") : labels_in(ticks, 1, " s");
}

}  // namespace ferry::gate::drawing
