// A range of sizes over which a measurement is repeated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::bench {

struct Sweep {
  std::string name;
  std::vector<std::int64_t> sizes;
};

// Parses ranges: "N=2^8..2^24" and "N=100..6400" double, "N=100..500+100" adds, "N=1,7,64" lists. Throws UsageError
// that shows what was expected.
Sweep parse_sweep(const std::string& text);

}  // namespace ferry::bench
