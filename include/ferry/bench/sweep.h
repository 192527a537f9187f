// Ranges over which a measurement is repeated: of sizes, and of the knobs of a schedule.
#pragma once

#include <string>
#include <vector>

namespace ferry::bench {

struct Sweep {
  std::string name;                 // the name of a size or a knob
  std::vector<std::string> values;  // as text; none: every choice of the knob
};

// Parses ranges: "N=2^8..2^24" and "N=100..6400" double, "N=100..500+100" adds, "N=1,7,64" and "layout=row,column"
// list; "rows" stands for every choice of a knob. Throws OptionError that shows what was expected.
Sweep parse_sweep(const std::string& text);

}  // namespace ferry::bench
