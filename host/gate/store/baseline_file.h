// The file of a baseline.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "host/gate/store/store.h"

namespace ferry::gate {

inline constexpr std::string_view kBaselineExtension = ".json";
inline constexpr std::uint64_t kMostBaselineBytes = std::uint64_t{16} << 20;

// Returns an empty baseline if there is no such file. Throws StoreFailed, or UsageError for one that is damaged.
Baseline read_baseline_file(const std::string& path);
void write_baseline_file(const std::string& path, const Baseline& baseline);

}  // namespace ferry::gate
