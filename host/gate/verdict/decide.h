// Decides whether a case became slower, from the pairs of measurements so far (docs/measuring.md, The gate's interval).
//
// A pair is a process that ran both sides in turns. Neighbouring pairs are averaged to one observation, because they
// share what disturbs a machine for a while. The interval of the observations' mean is a confidence sequence, so that
// deciding after any number of pairs is allowed (host/stats/confidence_sequence.h). Two facts make it hold for the
// noise of real machines: if nothing changed, and the order of the two sides is drawn at random, a pair's log-ratio
// is symmetric around 0 however skewed the times are, and no correlation of the times remains between pairs.
//
// The correlation that remains is guarded against by the lag-1 autocorrelation r of the observations. Its bias of -1/n
// is removed; then the interval is widened by sqrt((1 + r) / (1 - r)), the growth of the error of a mean of
// autoregressive values. Where r exceeds kMostCorrelation it might be much larger, as an estimate from few
// observations, so that its upper bound r + 2 / sqrt(n) takes its place: a verdict needs an interval that is clear
// nevertheless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/gate/api/report.h"
#include "host/gate/api/verdict.h"

namespace ferry::gate {

inline constexpr double kMostCorrelation = 0.3;

struct DecisionRule {
  double tolerance = 0.02;        // a smaller change does not matter: 0.02 is 2% of the baseline's time
  double level = 0.01;            // the probability of a false alarm of this case on this board
  std::uint32_t most_pairs = 64;  // the budget
};

enum class DecisionState : std::uint8_t {
  more,     // another pair is needed
  decided,  // slower, faster or no_change
  spent,    // the budget is spent: cannot_tell
};

struct Decision {
  DecisionState state = DecisionState::more;
  Verdict verdict = Verdict::cannot_tell;
  Change change;           // widened for correlation
  double correlation = 0;  // between neighbouring observations, without the estimate's bias
  std::string reason;      // a sentence where the budget is spent
};

// Returns the level of each case on each board such that a false alarm anywhere in the suite has at most the
// probability `error_level`. It must be computed from the whole suite before anything is measured. Throws UsageError
// unless there is something to decide and 0 < error_level < 1.
double level_of_case(double error_level, std::size_t cases, std::size_t boards);

// Returns the least number of pairs after which a verdict is possible: a budget below it is never enough. Throws
// UsageError unless 0 < level < 1.
std::uint32_t least_pairs(double level);

// Takes log(current / baseline) of each pair in the order in which they were measured. With t = 1 + tolerance the case
// is slower where the interval of the ratio lies above t, faster where it lies below 1/t, which is as far away in the
// logarithm, and unchanged where it lies between both. Throws UsageError for a rule out of range and for ratios that
// are not finite.
Decision decide(std::span<const double> log_ratios, const DecisionRule& rule);
Decision decide(const std::vector<Pair>& pairs, const DecisionRule& rule);

}  // namespace ferry::gate
