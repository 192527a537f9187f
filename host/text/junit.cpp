#include "host/text/junit.h"

#include <algorithm>
#include <cstdio>

#include "base/printable.h"

namespace ferry::text {

namespace {

// Escapes what XML 1.0 gives a meaning. Control characters, which it does not allow at all, become "\x1b".
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : printable_lines(text)) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\n': result += "&#10;"; break;
      default: result += c;
    }
  }
  return result;
}

std::string seconds_text(double seconds) {
  char text[64];
  std::snprintf(text, sizeof text, "%.9f", seconds);
  return text;
}

std::string attribute(const char* name, const std::string& value) {
  return std::string(" ") + name + "=\"" + escaped(value) + "\"";
}

}  // namespace

std::string junit_text(const JUnitReport& report) {
  const auto count = [&](std::string JUnitCase::* field) {
    return std::to_string(std::count_if(report.cases.begin(), report.cases.end(),
                                        [&](const JUnitCase& one) { return !(one.*field).empty(); }));
  };
  double seconds = 0;
  for (const JUnitCase& one : report.cases) seconds += one.seconds;
  const std::string counts = attribute("tests", std::to_string(report.cases.size())) +
                             attribute("failures", count(&JUnitCase::failure)) +
                             attribute("errors", count(&JUnitCase::error)) + attribute("time", seconds_text(seconds));
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts + ">\n  <testsuite" +
                     attribute("name", report.suite) + counts + ">\n";
  for (const JUnitCase& one : report.cases) {
    text += "    <testcase" + attribute("classname", report.suite) + attribute("name", one.name) +
            attribute("time", seconds_text(one.seconds));
    if (one.failure.empty() && one.error.empty() && one.output.empty()) {
      text += "/>\n";
      continue;
    }
    text += ">\n";
    if (!one.failure.empty()) text += "      <failure" + attribute("message", one.failure) + "/>\n";
    if (!one.error.empty()) text += "      <error" + attribute("message", one.error) + "/>\n";
    if (!one.output.empty()) text += "      <system-out>" + escaped(one.output) + "</system-out>\n";
    text += "    </testcase>\n";
  }
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace ferry::text
