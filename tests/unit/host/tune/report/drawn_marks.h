// Finds the marks and lines of a chart in its page.
#pragma once

#include <cmath>
#include <regex>
#include <string>
#include <vector>

namespace ferry::test {

struct DrawnMark {
  double x = 0, y = 0;
};
struct DrawnLine {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
};

// Coordinates are written with one digit after the point.
inline bool is_near(double a, double b) { return std::abs(a - b) <= 0.25; }

// Returns the centres of the circles and diamonds of the paths of this class.
inline std::vector<DrawnMark> marks_of(const std::string& page, const std::string& style) {
  const std::regex path("<path class=\"" + style + "\" d=\"([^\"]*)\""), mark("M([0-9.]+) ([0-9.]+)([al])");
  std::vector<DrawnMark> marks;
  for (std::sregex_iterator p(page.begin(), page.end(), path), end; p != end; ++p) {
    const std::string d = (*p)[1];
    for (std::sregex_iterator m(d.begin(), d.end(), mark); m != end; ++m) {
      const double x = std::stod((*m)[1]), y = std::stod((*m)[2]);
      marks.push_back((*m)[3] == "a" ? DrawnMark{x + 3, y} : DrawnMark{x, y + 4});
    }
  }
  return marks;
}

inline std::vector<DrawnLine> lines_of(const std::string& page, const std::string& style) {
  const std::regex line("<line class=\"" + style +
                        "\" x1=\"([0-9.]+)\" y1=\"([0-9.]+)\" x2=\"([0-9.]+)\" y2=\"([0-9.]+)\"");
  std::vector<DrawnLine> lines;
  for (std::sregex_iterator l(page.begin(), page.end(), line), end; l != end; ++l)
    lines.push_back({std::stod((*l)[1]), std::stod((*l)[2]), std::stod((*l)[3]), std::stod((*l)[4])});
  return lines;
}

}  // namespace ferry::test
