// Times of pairs that do not depend on the machine and on what else runs there.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "host/gate/run/measure_pair.h"

namespace ferry::test {

// Runs pairs on this machine as measure_pair() does, so that what fails there fails. The times are then replaced: a
// call takes a nanosecond for each of the rounds that its kernel's text states after `before`, and `base` more.
inline gate::MeasurePair times_by_rounds(const std::string& before, int base = 0) {
  const auto seconds_of = [before, base](const bench::MeasuredSide& side) {
    const std::string& text = side.module.source();
    const std::size_t place = text.find(before);
    REQUIRE(place != std::string::npos);
    return 1e-9 * (base + std::stoi(text.substr(place + before.size())));
  };
  return [seconds_of](const OpenSession& open, const bench::RunSettings& settings,
                      const gate::PerSide<bench::MeasuredSide>& sides, std::uint32_t layout, bool current_first,
                      stats::Random& random, const Observer& observer) {
    gate::MeasuredPair pair = gate::measure_pair(open, settings, sides, layout, current_first, random, observer);
    for (const gate::Side side : gate::kSides) pair.pair.seconds[side] = seconds_of(sides[side]);
    // Layouts of code differ a little on a quiet machine too.
    const double difference = 1e-4 * (static_cast<double>(layout % 8) - 3.5);
    pair.pair.log_ratio =
        std::log(pair.pair.seconds[gate::Side::current] / pair.pair.seconds[gate::Side::baseline]) + difference;
    return pair;
  };
}

}  // namespace ferry::test
