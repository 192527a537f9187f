// Which of two is slower, from measurements of both in several fresh processes.
//
// One process measures both under one layout of code and data; another process has another layout. So samples of one
// process are no independent witnesses (Kalibera and Jones, Rigorous benchmarking in reasonable time, ISMM 2013): each
// process counts once, by the logarithm of its ratio, and the test is Student's paired t test over processes (Student,
// The probable error of a mean, 1908) at the 1% level.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ferry::stats {

inline constexpr double kComparisonLevel = 0.01;

enum class Verdict : std::uint8_t { no_difference, a_slower, b_slower };

struct Comparison {
  double ratio = 1;          // time of A over time of B: the geometric mean over the processes
  double low = 1, high = 1;  // its interval at 1 - level
  double p_value = 1;        // how often chance alone would show as much
  Verdict verdict = Verdict::no_difference;
};

// One log(time of A / time of B) a process, at least 2. A difference counts when the interval excludes 1 and the ratio
// is at least `least_effect` from it: a difference that nobody cares for is none.
Comparison compare(std::span<const double> log_ratios, double least_effect);

// "no difference", "A is slower by 5.1% [4.2%, 6.0%]".
std::string to_text(const Comparison& comparison);

}  // namespace ferry::stats
