// Interprets the small files of a board that describe the environment of a measurement.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ferry/client.h"

namespace ferry::bench {

// One property that a board may report. If it does not, `missing` gives the reason; a missing value is never zero.
struct Quantity {
  std::string name;  // "frequency_hz"
  std::optional<double> before, after;
  std::string missing;
};

struct Environment {
  std::string governor_before, governor_after;  // empty: the device has none
  std::vector<Quantity> quantities;             // always the same ones in the same order
  std::string counters_missing;                 // why the processor counted nothing; empty: it did count

  const Quantity& at(const std::string& name) const;
  // Returns the increase of a counter, or nothing if the board does not report it.
  std::optional<double> increase(const std::string& name) const;
};

// Paths that the device reads before and after.
std::vector<std::string> watched_paths();
Environment read_environment(const Timing& timing);

}  // namespace ferry::bench
