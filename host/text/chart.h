// Charts as SVG: the image, marks, lines, and labels of axes.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "host/text/axis.h"
#include "host/text/html.h"

namespace ferry::chart {

// In units of the view box.
inline constexpr double kWidth = 860, kLeft = 84, kRight = 48, kTop = 16, kBottom = 26;

std::string coordinate(double value);

// `style` is a class of the style sheet.
void write_line(html::Html& html, const char* style, double x1, double y1, double x2, double y2);
void write_text(html::Html& html, const std::string& text, double x, double y, const char* anchor,
                const char* style = "label");

// Return a part of a path. Paths take a fifth of the room that an element for each point takes.
std::string circle(double x, double y);
std::string diamond(double x, double y);
// One of kMarkers shapes, which tell lines apart without colours; further indices begin again.
inline constexpr std::size_t kMarkers = 6;
std::string marker(std::size_t index, double x, double y);
const char* marker_name(std::size_t index);  // "circle"

struct ChartTexts {
  std::string id;  // begins the ids of its parts
  std::string title, description;
  std::string caption;  // beneath the image
};

// Writes a figure: an image as wide as kWidth, in which `draw` writes what is shown, with its texts.
void write_figure(html::Html& html, double height, const ChartTexts& texts, const std::function<void()>& draw);

// Return the labels of ticks: all in one unit, which suits the largest one, and with as many digits after the point as
// the ticks need.
std::vector<std::string> count_labels(const std::vector<double>& ticks);      // "1.2270M"; the ticks are 0 or more
std::vector<std::string> time_labels(const std::vector<double>& ticks);       // "1.5 ms"; the ticks are seconds
std::vector<std::string> share_labels(const std::vector<double>& ticks);      // "105%"; the ticks are fractions
std::vector<std::string> flop_rate_labels(const std::vector<double>& ticks);  // "20 GFLOP/s"; operations a second
std::vector<std::string> byte_rate_labels(const std::vector<double>& ticks);  // "20 GB/s"; bytes a second
// The ticks are ratios. The labels are changes in percent, "+5%", or multiples on an axis that reaches far, "x20";
// never both.
std::vector<std::string> change_labels(const std::vector<double>& ticks);

struct Ticks {
  std::vector<double> values;
  std::vector<std::string> labels;
};
using LabelsOf = std::vector<std::string> (*)(const std::vector<double>& ticks);

// Returns the labels of an axis's ticks. On a logarithmic axis each has a unit and digits of its own: "10 us", "1 ms".
std::vector<std::string> labels_on(const Axis& axis, const std::vector<double>& ticks, LabelsOf labels_of);

// Returns ticks of a horizontal axis, with labels that have room beside one another and within the image if each is
// centred at its tick.
Ticks horizontal_ticks(const Axis& axis, LabelsOf labels_of);

// Returns those of the given ticks, in ascending order, whose labels have room likewise: all, every second, every
// third, or as many as there is room for if they are uneven.
Ticks horizontal_ticks(const Axis& axis, const Ticks& candidates);

// Returns how wide labels are at most, in units of the view box.
double label_width(const std::vector<std::string>& labels);

// Writes lines at the ticks of a vertical axis, with their labels to the left. Returns where they begin: at kLeft, or
// further to the right for long labels. They end at `right`; the line at 1 is of the style `at_one`.
double write_vertical_axis(html::Html& html, const Axis& axis, LabelsOf labels_of, double right,
                           const char* at_one = "grid");

}  // namespace ferry::chart
