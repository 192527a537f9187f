// Reports of the gate as no board made them: every verdict, hostile names, numbers that are none.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "host/gate/api/report.h"

namespace ferry::test {

inline constexpr gate::Verdict kAllVerdicts[] = {
    gate::Verdict::unchanged, gate::Verdict::first,          gate::Verdict::no_change,  gate::Verdict::faster,
    gate::Verdict::slower,    gate::Verdict::cannot_tell,    gate::Verdict::wrong,      gate::Verdict::over_limit,
    gate::Verdict::failed,    gate::Verdict::infrastructure, gate::Verdict::interrupted};

// Names that try to become markup in HTML, XML or Markdown, to notify people, or to control a terminal.
std::vector<std::string> hostile_texts();

// A result that was measured with `pairs` pairs, around this ratio, with the interval as it narrowed.
gate::CaseResult measured_case(const std::string& name, gate::Verdict verdict, double ratio, std::size_t pairs,
                               std::uint32_t seed);

gate::Report empty_report();
// One case of every verdict, with all that a case can have.
gate::Report varied_report();
// The names, reasons, labels and diffs of which are hostile.
gate::Report hostile_report();
// Infinite intervals, times and ratios that are no numbers, equal times, one pair.
gate::Report extreme_report();
// So many cases, of which every hundredth is slower.
gate::Report long_report(std::size_t cases);

// All of them, by name.
std::vector<std::pair<std::string, gate::Report>> sample_reports();

}  // namespace ferry::test
