// Reports for continuous integration in the XML format that JUnit introduced and most tools read.
#pragma once

#include <string>
#include <vector>

namespace ferry::text {

struct JUnitCase {
  std::string name;
  double seconds = 0;
  std::string failure = {};  // why the result is wrong; empty: it is right
  std::string error = {};    // why there is no result
  std::string output = {};   // more about it
};

struct JUnitReport {
  std::string suite;  // "ferry run mm.tc"
  std::vector<JUnitCase> cases;
};

std::string junit_text(const JUnitReport& report);

}  // namespace ferry::text
