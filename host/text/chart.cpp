#include "host/text/chart.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"

namespace ferry::chart {

namespace {

// A character of a label is at most as wide as this, also in the larger letters of small screens.
constexpr double kCharacterWidth = 11;

double largest(const std::vector<double>& ticks) {
  return ticks.empty() ? 0 : std::max(std::abs(ticks.front()), std::abs(ticks.back()));
}

// Returns how many digits after the point write the values, which are evenly spaced, but for errors of rounding.
int digits_of(const std::vector<double>& values) {
  if (values.empty()) return 0;
  const double error = 1e-6 * (values.size() > 1 ? values[1] - values[0] : std::abs(values[0]));
  int digits = 0;
  for (double power = 1; digits < 9; ++digits, power *= 10) {
    const auto is_written = [&](double value) { return std::abs(value - std::round(value * power) / power) <= error; };
    if (std::ranges::all_of(values, is_written)) break;
  }
  return digits;
}

// `before` stands in front of positive values.
std::vector<std::string> labels_in(std::vector<double> ticks, double scale, const char* unit, const char* before = "") {
  for (double& tick : ticks) tick *= scale;
  const int digits = digits_of(ticks);
  std::vector<std::string> labels;
  for (double tick : ticks) {
    // A tick at 0 may be a negative zero, or off by an error of rounding.
    if (std::abs(tick) < 0.5 * std::pow(10, -digits)) tick = 0;
    labels.push_back(format("%s%.*f%s", tick > 0 ? before : "", digits, tick, unit));
  }
  return labels;
}

std::vector<std::string> counts_in(const std::vector<double>& ticks, const char* before) {
  const double most = largest(ticks);
  // Five digits are as easy to read as they are.
  if (most < 1e5) return labels_in(ticks, 1, "", before);
  if (most < 1e6) return labels_in(ticks, 1e-3, "k", before);
  if (most < 1e9) return labels_in(ticks, 1e-6, "M", before);
  return most < 1e12 ? labels_in(ticks, 1e-9, "G", before) : labels_in(ticks, 1e-12, "T", before);
}

std::vector<std::string> rates_in(const std::vector<double>& ticks, const std::string& unit) {
  const double most = largest(ticks);
  if (most < 999.5) return labels_in(ticks, 1, (" " + unit).c_str());
  if (most < 999.5e3) return labels_in(ticks, 1e-3, (" k" + unit).c_str());
  if (most < 999.5e6) return labels_in(ticks, 1e-6, (" M" + unit).c_str());
  if (most < 999.5e9) return labels_in(ticks, 1e-9, (" G" + unit).c_str());
  return labels_in(ticks, 1e-12, (" T" + unit).c_str());
}

struct Marker {
  const char* name;
  std::string (*path)(double x, double y);
};
constexpr Marker kMarkerShapes[kMarkers] = {
    {"circle", circle},
    {"diamond", diamond},
    {"square", [](double x, double y) { return format("M%.1f %.1fh6v6h-6z", x - 3, y - 3); }},
    {"triangle", [](double x, double y) { return format("M%.1f %.1fl4 7h-8z", x, y - 4); }},
    {"triangle that points down", [](double x, double y) { return format("M%.1f %.1fl4-7h-8z", x, y + 4); }},
    {"cross", [](double x, double y) { return format("M%.1f %.1fh2v3h3v2h-3v3h-2v-3h-3v-2h3z", x - 1, y - 4); }},
};

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

std::string marker(std::size_t index, double x, double y) { return kMarkerShapes[index % kMarkers].path(x, y); }
const char* marker_name(std::size_t index) { return kMarkerShapes[index % kMarkers].name; }

void write_figure(html::Html& html, double height, const ChartTexts& texts, const std::function<void()>& draw) {
  const auto figure = html.open("figure");
  {
    const auto svg = html.open("svg", {{"viewBox", format("0 0 %.0f %.0f", kWidth, height)},
                                       {"role", "img"},
                                       {"aria-labelledby", texts.id + "-title"},
                                       {"aria-describedby", texts.id + "-text"}});
    html.element("title", texts.title, {{"id", texts.id + "-title"}});
    html.element("desc", texts.description, {{"id", texts.id + "-text"}});
    draw();
  }
  html.element("figcaption", texts.caption);
}

std::vector<std::string> count_labels(const std::vector<double>& ticks) { return counts_in(ticks, ""); }

std::vector<std::string> time_labels(const std::vector<double>& ticks) {
  const double most = largest(ticks);
  if (most < 999.5e-9) return labels_in(ticks, 1e9, " ns");
  if (most < 999.5e-6) return labels_in(ticks, 1e6, " us");
  return most < 999.5e-3 ? labels_in(ticks, 1e3, " ms") : labels_in(ticks, 1, " s");
}

std::vector<std::string> share_labels(const std::vector<double>& ticks) { return labels_in(ticks, 100, "%"); }

std::vector<std::string> flop_rate_labels(const std::vector<double>& ticks) { return rates_in(ticks, "FLOP/s"); }

std::vector<std::string> byte_rate_labels(const std::vector<double>& ticks) { return rates_in(ticks, "B/s"); }

std::vector<std::string> change_labels(const std::vector<double>& ticks) {
  if (largest(ticks) >= 10) return counts_in(ticks, "x");
  std::vector<double> changes;
  for (const double tick : ticks) changes.push_back(tick - 1);
  return labels_in(changes, 100, "%", "+");
}

std::vector<std::string> labels_on(const Axis& axis, const std::vector<double>& ticks, LabelsOf labels_of) {
  if (axis.scale == Scale::linear) return labels_of(ticks);
  std::vector<std::string> labels;
  for (const double tick : ticks) labels.push_back(labels_of({tick}).front());
  return labels;
}

Ticks horizontal_ticks(const Axis& axis, LabelsOf labels_of) {
  Ticks ticks;
  for (int count = 6; count >= 1; --count) {
    ticks.values = axis.ticks(count);
    // One whose label would be cut off at an edge of the image is left out.
    const double half = label_width(labels_on(axis, ticks.values, labels_of)) / 2;
    std::erase_if(ticks.values,
                  [&](double value) { return axis.place(value) < half || axis.place(value) > kWidth - half; });
    ticks.labels = labels_on(axis, ticks.values, labels_of);
    double apart = kWidth;
    for (std::size_t i = 1; i < ticks.values.size(); ++i)
      apart = std::min(apart, axis.place(ticks.values[i]) - axis.place(ticks.values[i - 1]));
    if (apart > 2 * half) break;
  }
  return ticks;
}

Ticks horizontal_ticks(const Axis& axis, const Ticks& candidates) {
  const auto with_room = [&](std::size_t step) {
    Ticks ticks;
    double end = 0;
    for (std::size_t i = 0; i < candidates.values.size(); i += step) {
      const double half = label_width({candidates.labels[i]}) / 2, place = axis.place(candidates.values[i]);
      if (place - half < end || place + half > kWidth) continue;
      ticks.values.push_back(candidates.values[i]);
      ticks.labels.push_back(candidates.labels[i]);
      end = place + half;
    }
    return ticks;
  };
  const Ticks most = with_room(1);
  // Every second or third is easier to read, unless the candidates are so uneven that many more have room.
  for (std::size_t step = 1; 2 * candidates.values.size() >= step * most.values.size(); ++step) {
    const std::size_t count = (candidates.values.size() + step - 1) / step;
    Ticks ticks = with_room(step);
    if (ticks.values.size() == count) return ticks;
    if (count <= 1) break;
  }
  return most;
}

double label_width(const std::vector<std::string>& labels) {
  std::size_t longest = 0;
  for (const std::string& label : labels) longest = std::max(longest, label.size());
  return kCharacterWidth * static_cast<double>(longest);
}

double write_vertical_axis(html::Html& html, const Axis& axis, LabelsOf labels_of, double right, const char* at_one) {
  const std::vector<double> ticks = axis.ticks(6);
  const std::vector<std::string> labels = labels_on(axis, ticks, labels_of);
  const double left = std::max(kLeft, 8 + label_width(labels));
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const double y = axis.place(ticks[i]);
    write_line(html, std::abs(ticks[i] - 1) < 1e-9 ? at_one : "grid", left, y, right, y);
    write_text(html, labels[i], left - 8, y + 4, "end");
  }
  return left;
}

}  // namespace ferry::chart
