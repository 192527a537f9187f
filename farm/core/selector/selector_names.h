// The words of selectors, for parsing and printing.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "farm/core/selector/selector.h"

namespace ferry::farm {

// In the order in which the enumerations list them.
inline constexpr std::array<std::string_view, 5> kTextKeys{"arch", "cpu", "feature", "model", "name"};
inline constexpr std::array<std::string_view, 2> kNumberKeys{"cores", "memory"};
inline constexpr std::array<std::string_view, 6> kComparisons{"=", "!=", ">=", "<=", ">", "<"};
inline constexpr std::array<std::string_view, 2> kDeviceKinds{"cuda", "opencl"};

inline constexpr std::array<std::pair<char, std::uint64_t>, 4> kUnits{{
    {'T', std::uint64_t{1} << 40U},
    {'G', std::uint64_t{1} << 30U},
    {'M', std::uint64_t{1} << 20U},
    {'K', std::uint64_t{1} << 10U},
}};

}  // namespace ferry::farm
