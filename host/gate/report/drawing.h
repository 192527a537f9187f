// Parts of charts: marks, lines, labels and the image around them.
#pragma once

#include <string>
#include <vector>

#include "host/text/html.h"

namespace ferry::gate::drawing {

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

// An open figure with an image as wide as kWidth, which has a title and a description in words. `id` begins the ids of
// its parts.
class Image {
 public:
  Image(html::Html& html, double height, const std::string& id, const std::string& title,
        const std::string& description);

 private:
  html::Html::Scope figure_, svg_;
};

// Returns where an axis begins whose labels end to its left: at kLeft, or further to the right for long ones.
double left_of(const std::vector<std::string>& labels);

// Returns labels of counts of 0 or more, in thousands, millions or more where the largest one is, with as many digits
// as tell two neighbours apart: "1.2270M".
std::vector<std::string> count_labels(const std::vector<double>& ticks);

// Returns labels of times in seconds. The unit of all is that of the largest one, with as many digits as tell two
// neighbours apart.
std::vector<std::string> time_labels(const std::vector<double>& ticks);

}  // namespace ferry::gate::drawing
