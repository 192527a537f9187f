// Random contents of an input that a user describes: whole numbers below a limit, numbers of an interval, normally
// distributed ones, or any that the type has. They are drawn on this machine and uploaded, so any rpc_server takes
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ferry/types.h"

namespace ferry {

enum class DistributionKind : std::uint8_t {
  below,    // whole numbers from 0 to N - 1, all equally likely
  uniform,  // from A, excluding B: floats evenly, whole numbers all equally likely
  normal,   // with a mean (0) and a standard deviation (1)
  full,     // integers: all that the type has, equally likely; floats: of either sign, their magnitudes log-uniform
};

struct Distribution {
  DistributionKind kind = DistributionKind::uniform;
  std::vector<std::string> parameters;  // as typed: numbers, or for below() the name of a size
};

// Parses "below(1000)", "below(N)", "uniform(-1,1)", "normal", "normal(0,0.02)" and "full". Nothing for any other text.
std::optional<Distribution> parse_distribution(const std::string& text);

// Returns "from -32768 to 32767", "of magnitudes 2^-4 to 2^4", "below 100": which numbers of the type are drawn.
std::string range_text(const Distribution& distribution, DType dtype);

// Returns the bytes of `count` elements. Element i depends only on the distribution, the type, the seed and i.
// `size_of` gives the value of a size by its name. Throws UsageError for a distribution that the type has no values
// for.
std::vector<std::uint8_t> draw(const Distribution& distribution, DType dtype, std::uint64_t seed, std::uint64_t count,
                               const std::function<std::optional<std::int64_t>(const std::string&)>& size_of);

}  // namespace ferry
