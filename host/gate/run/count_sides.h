// Counts executed instructions of both sides, and the share of the board's peak that the current one reaches.
#pragma once

#include <optional>
#include <string>

#include "host/gate/run/measure_pair.h"

namespace ferry::gate {

// Instructions of a call of both sides, or why they were not counted.
struct CountedSides {
  std::optional<Instructions> instructions;
  bool is_exact = false;  // an emulator counted: twice, and both counts were equal
  std::string reason;
};

// Counts each side in a process of its own, with its code where it lies in the first layout. Throws SideFailed, and
// Error as measure_pair().
CountedSides count_sides(const OpenSession& open, const RunSettings& measured, const PerSide<MeasuredSide>& sides,
                         const Observer& observer);

// Judges a case by its instructions: they are exact, so that the tolerance alone decides.
void judge_by_instructions(const CountedSides& counted, double tolerance, CaseResult& result);

// Returns the rate of the current side over the board's peak of multiply-adds; nothing if it is unknown.
std::optional<double> share_of_peak(const OpenSession& open, const RunSettings& measured, const MeasuredSide& current,
                                    const Observer& observer);

}  // namespace ferry::gate
