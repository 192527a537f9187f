// Tunes a kernel as a user would, with `ferry tune` in a process of its own.
#pragma once

#include <filesystem>
#include <string>

namespace ferry::bench {

struct TuneRequest {
  std::filesystem::path program;  // a text with one function whose sizes are numbers
  unsigned threads = 1;
  std::string budget;                 // as `ferry tune --budget` takes it: "60s"
  std::filesystem::path folder = {};  // for the records, which must not be those of an earlier search
};

struct TunedPoint {
  std::string point;             // empty: nothing is faster than the default schedule
  double faster = 1;             // how many times as fast as the default, by the comparison at the end
  double trials_per_second = 0;  // up to the last trial
};

// Throws std::runtime_error with what `ferry tune` printed if it fails.
TunedPoint tuned_point(const TuneRequest& request);

}  // namespace ferry::bench
