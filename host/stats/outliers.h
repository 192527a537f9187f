// Labels outliers. They are never dropped: what disturbs a measurement may also disturb users.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ferry::stats {

enum class OutlierLabel : std::uint8_t { none, low_severe, low_mild, high_mild, high_severe };

// "low severe" and so on; "" for none.
const char* to_text(OutlierLabel label);

// Returns a label for each sample: mild beyond 1.5, severe beyond 3 interquartile ranges from the quartiles (Tukey,
// Exploratory Data Analysis, 1977).
std::vector<OutlierLabel> label_outliers(std::span<const double> samples);

}  // namespace ferry::stats
