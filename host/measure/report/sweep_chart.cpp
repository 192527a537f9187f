#include "host/measure/report/sweep_chart.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/format.h"
#include "base/quantity_text.h"
#include "base/utf8.h"

namespace ferry::bench {

namespace {

using namespace chart;

// In units of the view box.
constexpr double kHeight = 340, kNameHeight = 20, kPlotBottom = kHeight - kBottom - kNameHeight;
constexpr double kLeastRowHeight = 30, kLineDistance = 11, kLabelDistance = 14;
constexpr std::size_t kColors = 6;  // in the style sheet
constexpr std::size_t kLongestLabel = 24;
// From this value on, powers of two are easier to read as such.
constexpr double kLeastPower = 1024;

struct SweepChart {
  const Variable& variable;
  Charted charted;
  std::vector<Series> series;  // those that are shown
  std::vector<double> values;  // all that is shown, at least one
  std::size_t all_lines = 0;   // number of series, also of those that are not shown
  bool has_devices = false;    // there are several
  bool has_peaks = false;

  Axis value_axis(double from, double to) const {
    // Both ends are shown, however far they lie from the others.
    const auto [least, most] = std::ranges::minmax(values);
    return axis_around({least, most}, from, to, scale_for(values));
  }
};

std::string style_of(std::size_t series) { return "series-" + std::to_string(series % kColors); }
// Lines of the same colour have different markers, and the reverse.
std::size_t marker_of(std::size_t series) { return series + series / kColors; }

std::string shortened(const std::string& label) {
  return label.size() <= kLongestLabel ? label : std::string(utf8_prefix(label, kLongestLabel)) + "...";
}

SweepChart chart_of(const Variable& variable, Charted charted) {
  SweepChart chart{variable, charted, {}, {}};
  std::vector<Series> all;
  for (const Series& series : variable.series) {
    Series shown{series.name};
    for (const SeriesPoint& point : series.points)
      if (value_of(*point.measurement, charted)) shown.points.push_back(point);
    if (!shown.points.empty()) all.push_back(std::move(shown));
  }
  chart.all_lines = all.size();
  const std::size_t count = std::min(all.size(), kMostLines);
  for (std::size_t i = 0; i < count; ++i) chart.series.push_back(std::move(all[i * all.size() / count]));
  for (const Series& series : chart.series) {
    for (const SeriesPoint& point : series.points) {
      chart.has_devices |= point.measurement->device != chart.series.front().points.front().measurement->device;
      chart.has_peaks |= peak_of(*point.measurement, charted) > 0;
    }
  }
  // A row of choices has room for the peak of one device.
  if (chart.has_devices && !variable.is_number && !variable.is_device) chart.has_peaks = false;
  for (const Series& series : chart.series) {
    for (const SeriesPoint& point : series.points) {
      const ChartedValue value = *value_of(*point.measurement, charted);
      chart.values.insert(chart.values.end(), {value.value, value.low, value.high});
      const double peak = peak_of(*point.measurement, charted);
      if (chart.has_peaks && peak > 0) chart.values.push_back(peak);
    }
  }
  return chart;
}

void write_legend(html::Html& html, const SweepChart& chart) {
  if (chart.series.size() < 2) return;
  const auto list = html.open("ul", {{"class", "legend"}});
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const auto entry = html.open("li");
    {
      const auto key = html.open("svg", {{"class", style_of(s)}, {"viewBox", "0 0 28 12"}, {"role", "img"}});
      html.element("title", marker_name(marker_of(s)));
      write_line(html, "curve", 0, 6, 28, 6);
      html.element("path", "", {{"class", "dots"}, {"d", marker(marker_of(s), 14, 6)}});
    }
    html.text(chart.series[s].name);
  }
}

void write_marker(html::Html& html, const SweepChart& chart, std::size_t s, const SeriesPoint& point, double x,
                  double y) {
  const auto path = html.open("path", {{"class", "dots"}, {"d", marker(marker_of(s), x, y)}});
  html.element("title", bench::name_of(*point.measurement) + " on " + point.measurement->device + ": " +
                            text_of(*value_of(*point.measurement, chart.charted), chart.charted));
}

// Returns the labels of the variable's numbers: powers of two as such, if they are large and all are powers.
std::vector<std::string> number_labels(const Variable& variable) {
  const auto exponent_of = [](double value) {
    int exponent = 0;
    return std::frexp(value, &exponent) == 0.5 && exponent >= 1 ? exponent - 1 : -1;
  };
  const bool are_powers = variable.places.back() >= kLeastPower &&
                          std::ranges::all_of(variable.places, [&](double place) { return exponent_of(place) >= 0; });
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < variable.values.size(); ++i)
    labels.push_back(are_powers ? "2^" + std::to_string(exponent_of(variable.places[i]))
                                : count_labels({variable.places[i]}).front());
  return labels;
}

// Draws the measured peak of each device over the numbers, the highest where there are several.
void write_peak_lines(html::Html& html, const SweepChart& chart, const Axis& places, const Axis& values) {
  std::map<std::string, std::map<double, double>> peaks;  // by the device's name and by place
  for (const Series& series : chart.series) {
    for (const SeriesPoint& point : series.points) {
      double& peak = peaks[point.measurement->device][point.place];
      peak = std::max(peak, peak_of(*point.measurement, chart.charted));
    }
  }
  std::vector<std::pair<double, std::string>> labels;  // where they should stand
  for (const auto& [device, of_device] : peaks) {
    std::string path;
    double start = 0;
    for (const auto& [place, peak] : of_device) {
      if (!(peak > 0)) continue;
      const double y = values.place(peak);
      if (path.empty()) start = y;
      path += format("%s%.1f %.1f", path.empty() ? "M" : "L", places.place(place), y);
    }
    if (path.empty()) continue;
    html.element("path", "", {{"class", "peak"}, {"d", path}});
    labels.emplace_back(start, chart.has_devices ? "peak of " + shortened(device) : "peak");
  }
  std::ranges::sort(labels);
  double next = kTop - 2;
  for (const auto& [start, label] : labels) {
    const double y = std::max(start - 5, next);
    write_text(html, label, places.place(chart.variable.places.front()), y, "start", "over");
    next = y + kLabelDistance;
  }
}

void write_curve(html::Html& html, const SweepChart& chart, std::size_t s, const Axis& places, const Axis& values) {
  const auto group = html.open("g", {{"class", style_of(s)}});
  std::string curve, whiskers;
  for (const SeriesPoint& point : chart.series[s].points) {
    const ChartedValue value = *value_of(*point.measurement, chart.charted);
    const double x = places.place(point.place);
    curve += format("%s%.1f %.1f", curve.empty() ? "M" : "L", x, values.place(value.value));
    whiskers += format("M%.1f %.1fV%.1f", x, values.place(value.low), values.place(value.high));
  }
  html.element("path", "", {{"class", "curve"}, {"d", curve}});
  html.element("path", "", {{"class", "whisker"}, {"d", whiskers}});
  for (const SeriesPoint& point : chart.series[s].points)
    write_marker(html, chart, s, point, places.place(point.place),
                 values.place(value_of(*point.measurement, chart.charted)->value));
}

void draw_numbers(html::Html& html, const SweepChart& chart) {
  const Axis values = chart.value_axis(kPlotBottom, kTop);
  const double left = write_vertical_axis(html, values, words_of(chart.charted).labels, kWidth - kRight);
  const Variable& variable = chart.variable;
  const Axis places =
      axis_around({variable.places.front(), variable.places.back()}, left, kWidth - kRight, scale_for(variable.places));
  const Ticks ticks = horizontal_ticks(places, Ticks{variable.places, number_labels(variable)});
  for (std::size_t t = 0; t < ticks.values.size(); ++t) {
    const double x = places.place(ticks.values[t]);
    write_line(html, "grid", x, kTop, x, kPlotBottom);
    write_text(html, ticks.labels[t], x, kPlotBottom + 18, "middle");
  }
  write_text(html, shortened(variable.name), (left + kWidth - kRight) / 2, kHeight - 6, "middle", "name");
  if (chart.has_peaks) write_peak_lines(html, chart, places, values);
  for (std::size_t s = 0; s < chart.series.size(); ++s) write_curve(html, chart, s, places, values);
}

double row_height(const SweepChart& chart) {
  return std::max(kLeastRowHeight, kLineDistance * static_cast<double>(chart.series.size() + 1));
}

double choices_height(const SweepChart& chart) {
  return kTop + row_height(chart) * static_cast<double>(chart.variable.values.size()) + kBottom;
}

void draw_choices(html::Html& html, const SweepChart& chart) {
  const double bottom = choices_height(chart) - kBottom, height = row_height(chart);
  std::vector<std::string> names;
  for (const std::string& value : chart.variable.values) names.push_back(shortened(value));
  const double left = std::max(kLeft, 8 + label_width(names));
  const Axis values = chart.value_axis(left, kWidth - kRight);
  const Ticks ticks = horizontal_ticks(values, words_of(chart.charted).labels);
  for (std::size_t t = 0; t < ticks.values.size(); ++t) {
    const double x = values.place(ticks.values[t]);
    write_line(html, "grid", x, kTop, x, bottom);
    write_text(html, ticks.labels[t], x, bottom + 18, "middle");
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double top = kTop + height * static_cast<double>(i);
    write_line(html, "grid", left, top, kWidth - kRight, top);
    write_text(html, names[i], left - 8, top + height / 2 + 4, "end", "name");
  }
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const auto group = html.open("g", {{"class", style_of(s)}});
    const double shift = kLineDistance * (static_cast<double>(s) - (static_cast<double>(chart.series.size()) - 1) / 2);
    for (const SeriesPoint& point : chart.series[s].points) {
      const ChartedValue value = *value_of(*point.measurement, chart.charted);
      const double row = kTop + height * (point.place + 0.5), y = row + shift;
      const double peak = peak_of(*point.measurement, chart.charted);
      if (chart.has_peaks && peak > 0 && s == 0)
        write_line(html, "peak", values.place(peak), row - height / 2, values.place(peak), row + height / 2);
      write_line(html, "whisker", values.place(value.low), y, values.place(value.high), y);
      write_marker(html, chart, s, point, values.place(value.value), y);
    }
  }
}

std::string description_of(const SweepChart& chart) {
  std::string text;
  for (const Series& series : chart.series) {
    const auto end = [&](const SeriesPoint& point) {
      return text_of(*value_of(*point.measurement, chart.charted), chart.charted) + " at " +
             bench::name_of(*point.measurement);
    };
    text += (text.empty() ? "" : " ") + (series.name.empty() ? "" : series.name + ": ") + end(series.points.front()) +
            (series.points.size() > 1 ? " to " + end(series.points.back()) : "") + ".";
  }
  return text;
}

std::string caption_of(const SweepChart& chart) {
  std::string text = "Each mark is the median of a result, and the bar through it the 95% interval.";
  const bool has_values = scale_for(chart.values) == Scale::logarithmic,
             has_places = chart.variable.is_number && scale_for(chart.variable.places) == Scale::logarithmic;
  if (has_values && has_places) {
    text += " Both axes are logarithmic.";
  } else if (has_values || has_places) {
    text += has_values == chart.variable.is_number ? " The vertical axis is logarithmic."
                                                   : " The horizontal axis is logarithmic.";
  }
  if (chart.has_peaks)
    text += std::string(" Dashed: the device's peak, ") + words_of(chart.charted).peak + " beside each result.";
  if (chart.series.size() < chart.all_lines)
    text += " " + std::to_string(chart.series.size()) + " of " + std::to_string(chart.all_lines) +
            " lines are shown; the table has all results.";
  return text;
}

}  // namespace

void write_sweep_chart(html::Html& html, const Variable& variable, Charted charted, const std::string& id) {
  const SweepChart chart = chart_of(variable, charted);
  if (chart.series.empty()) return;
  const std::string by = " by " + variable.name;
  html.element("h2", words_of(charted).heading + by);
  write_legend(html, chart);
  write_figure(html, variable.is_number ? kHeight : choices_height(chart),
               {id, words_of(charted).title + by, description_of(chart), caption_of(chart)},
               [&] { variable.is_number ? draw_numbers(html, chart) : draw_choices(html, chart); });
}

}  // namespace ferry::bench
