// Which of two is slower, from measurements of both in several fresh processes.
//
// One process measures both under one layout of code and data; another process has another layout. So samples of one
// process are no independent witnesses (Kalibera and Jones, Rigorous benchmarking in reasonable time, ISMM 2013): each
// process counts once, by the logarithm of its ratio, and the test is Student's paired t test over processes (Student,
// The probable error of a mean, 1908) at the 1% level. That there is no difference is a claim of its own, which needs
// as much evidence (equivalence testing; Schuirmann 1987): the whole interval must lie within the least effect.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace ferry::stats {

inline constexpr double kComparisonLevel = 0.01;

enum class Verdict : std::uint8_t { a_slower, b_slower, no_difference, unknown };

struct Comparison {
  double ratio = 1;          // time of A over time of B: the geometric mean over the processes
  double low = 1, high = 1;  // its interval at 1 - level; infinite where one process says nothing
  double p_value = 1;        // how often chance alone would show as much
  Verdict verdict = Verdict::unknown;
  // How many processes would probably be enough for another verdict than unknown, if they are like these; nothing
  // when no number would be.
  std::optional<std::uint32_t> enough_processes;
};

// One log(time of A / time of B) a process. A difference counts when the interval excludes 1 and the ratio is at least
// `least_effect` from it. There is no difference when the whole interval lies within `least_effect` of 1. Everything
// else is unknown, and so is what fewer than 2 processes say.
Comparison compare(std::span<const double> log_ratios, double least_effect);

// "A is slower by 5.1% [4.2%, 6.0%]", "no difference of 1% or more", "cannot tell: A is between 36% faster and 57%
// slower than B".
std::string to_text(const Comparison& comparison, double least_effect);

// Whether B is slower than A by at least `limit` (0.05: 5%). It is when the whole interval says so, and is not when the
// whole interval says the opposite.
enum class Slowdown : std::uint8_t { no, yes, unknown };
Slowdown slowdown(const Comparison& comparison, double limit);

}  // namespace ferry::stats
