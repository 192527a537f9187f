// Sections that the pages of kernels and of networks have in common.
#pragma once

#include "host/text/html.h"
#include "host/tune/report/tune_page.h"

#include <string>
#include <vector>

namespace ferry::tune {

struct ComparisonWords {
  std::string title, tuned, by_default;  // "The best schedule", "the default"
};
// The medians of the processes of both sides, one below the other.
void write_comparison(html::Html& html, const bench::KernelComparison& compared, const ComparisonWords& words);

struct CoursePoint {
  double elapsed_seconds = 0, share = 1;  // a share of 1 is the default's time
};
struct Course {
  std::vector<CoursePoint> points = {};  // at least one, in the order of their times
  std::string summary = {}, details = {};
};
// The best over time.
void write_course(html::Html& html, const Course& course);

void write_failures(html::Html& html, const std::vector<ShownTrial>& trials);

// "too slow"
std::string outcome_words(Outcome outcome);
// Returns the point in one line.
std::string point_line(const std::string& point);

}  // namespace ferry::tune
