// Decides which of two kernels is slower, from measurements of both in several fresh processes.
//
// One process measures both under one layout of code and data; another process has another layout. So samples of one
// process are not independent (Kalibera and Jones, Rigorous benchmarking in reasonable time, ISMM 2013): each process
// counts once, by the logarithm of its ratio, and the test is Student's paired t test over processes (Student, The
// probable error of a mean, 1908) at the 1% level. The claim that there is no difference needs as much evidence
// (equivalence testing; Schuirmann 1987): the whole interval must lie within the least effect.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace ferry::stats {

inline constexpr double kComparisonLevel = 0.01;

enum class Verdict : std::uint8_t { a_slower, b_slower, no_difference, unknown };

struct Comparison {
  double ratio = 1;  // time of A over time of B: the geometric mean over the processes; not a number without any
  double low = 1, high = 1;  // confidence interval of the ratio at 1 - level; infinite with fewer than two processes
  double p_value = 1;        // probability of a ratio at least as extreme by chance alone
  Verdict verdict = Verdict::unknown;
  // Number of similar processes that would probably suffice for a verdict other than unknown; nothing when no number
  // would.
  std::optional<std::uint32_t> enough_processes;
};

// Takes one log(time of A / time of B) for each process. There is a difference when the interval excludes 1 and the
// ratio is at least `least_effect` from 1. There is no difference when the whole interval lies within `least_effect` of
// 1. Everything else is unknown, as is the verdict with fewer than 2 processes.
Comparison compare(std::span<const double> log_ratios, double least_effect);

// "A is slower by 5.1% [4.2%, 6.0%]", "A is 7.0 times slower than B [6.8, 7.1]", "no difference of 1% or more", "cannot
// tell: A is between 36% faster and 57% slower than B".
std::string to_text(const Comparison& comparison, double least_effect);

// Whether B is slower than A by at least `limit` (0.05: 5%): yes when the whole interval is at or above the limit, no
// when the whole interval is below it.
enum class Slowdown : std::uint8_t { no, yes, unknown };
Slowdown slowdown(const Comparison& comparison, double limit);

}  // namespace ferry::stats
