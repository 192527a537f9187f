// What the small files of a board say about a measurement, and in which words to warn of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/session/timing.h"

namespace ferry::cli {

// One thing a board may tell. What it does not tell is said in `missing`, never a zero.
struct Quantity {
  std::string name;  // "frequency_hz"
  std::optional<double> before, after;
  std::string missing;
};

struct Circumstances {
  std::string governor_before, governor_after;  // empty: the device has none
  std::vector<Quantity> quantities;             // always the same ones, in the same order
  std::string counters_missing;                 // why the processor counted nothing; empty: it did

  const Quantity& at(const std::string& name) const;
  // The increase, of what counts upwards; nothing where the board does not tell.
  std::optional<double> increase(const std::string& name) const;
};

// To be read by the device before and after.
std::vector<std::string> watched_paths();
Circumstances read_circumstances(const Timing& timing);

// Sentences for a person: why this number should not be trusted. `processors` is how many the device has.
std::vector<std::string> warnings(const Timing& timing, const Circumstances& circumstances, unsigned processors);

// From the texts of each core's cpu_capacity, then of each one's highest frequency: the strongest or the weakest cores.
// UsageError where all are alike.
std::vector<std::uint32_t> cores_by_strength(const std::vector<std::string>& texts, bool big);

}  // namespace ferry::cli
