#include "host/gate/verdict/decide.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/quantity_text.h"
#include "ferry/error.h"
#include "host/gate/verdict/noise_advice.h"
#include "host/stats/confidence_sequence.h"
#include "host/stats/position.h"

namespace ferry::gate {

namespace {

// The interval is widened by at most 8 times.
constexpr double kGreatestCorrelation = 0.97;

void check_rule(const DecisionRule& rule) {
  if (!(rule.tolerance >= 0) || std::isinf(rule.tolerance)) {
    throw UsageError("expected a tolerance of at least 0, got " + number_text(rule.tolerance));
  }
  if (rule.most_pairs == 0) throw UsageError("expected a budget of at least 1 pair, got 0");
}

// An odd pair at the end waits for its neighbour.
std::vector<double> observations_of(std::span<const double> log_ratios) {
  std::vector<double> observations;
  observations.reserve(log_ratios.size() / 2);
  for (std::size_t i = 1; i < log_ratios.size(); i += 2) {
    observations.push_back(log_ratios[i - 1] / 2 + log_ratios[i] / 2);
  }
  return observations;
}

// Returns the lag-1 autocorrelation, of which independent values have 0 on average; 0 for values without deviation.
double correlation_of(std::span<const double> values, double mean, double deviation) {
  if (!(deviation > 0)) return 0;
  double products = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    products += (values[i - 1] - mean) / deviation * ((values[i] - mean) / deviation);
  }
  const auto count = static_cast<double>(values.size());
  return (products + 1) / count;
}

double widening(double correlation, std::size_t observations) {
  double assumed = std::max(correlation, 0.0);
  if (correlation > kMostCorrelation) assumed += 2 / std::sqrt(static_cast<double>(observations));
  assumed = std::min(assumed, kGreatestCorrelation);
  return std::sqrt((1 + assumed) / (1 - assumed));
}

Verdict verdict_of(double low, double high, double tolerance) {
  switch (stats::position_of(low, high, std::log1p(tolerance))) {
    case stats::Position::above: return Verdict::slower;
    case stats::Position::below: return Verdict::faster;
    case stats::Position::within: return Verdict::no_change;
    case stats::Position::across: break;
  }
  return Verdict::cannot_tell;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g%%", share * 100);
  return text;
}

std::string signed_percent(double ratio) {
  double change = (ratio - 1) * 100;
  if (std::abs(change) < 0.05) change = 0;
  char text[32];
  std::snprintf(text, sizeof text, std::abs(change) < 100 ? "%+.1f%%" : "%+.3g%%", change);
  return text;
}

std::string reason_of(const Decision& decision, std::span<const double> log_ratios, const DecisionRule& rule) {
  const std::size_t pairs = log_ratios.size();
  const std::string count = std::to_string(pairs) + (pairs == 1 ? " pair" : " pairs");
  if (pairs < least_pairs(rule.level)) {
    return count + " cannot decide: at this error level it takes at least " + std::to_string(least_pairs(rule.level));
  }
  const bool is_correlated = decision.correlation > kMostCorrelation;
  const std::string interval =
      "the interval [" + signed_percent(decision.change.low) + ", " + signed_percent(decision.change.high) + "]";
  const std::string crosses = " crosses the tolerance of " + percent(rule.tolerance) + " after " + count;
  std::string reason = interval + crosses;
  if (is_correlated) {
    char correlation[32];
    std::snprintf(correlation, sizeof correlation, "%.2f", decision.correlation);
    reason = std::string("neighbouring pairs are correlated (") + correlation + "), and " + interval +
             " that allows for it" + crosses;
  }
  const std::string advice = noise_advice(log_ratios, is_correlated ? decision.correlation : 0, rule.tolerance);
  return advice.empty() ? reason : reason + "; " + advice;
}

}  // namespace

double level_of_case(double error_level, std::size_t cases, std::size_t boards) {
  if (!(error_level > 0 && error_level < 1)) {
    throw UsageError("expected an error level between 0 and 1, got " + number_text(error_level));
  }
  if (cases == 0 || boards == 0) {
    throw UsageError("expected at least one case on at least one board, got " + std::to_string(cases) + " on " +
                     std::to_string(boards));
  }
  return error_level / static_cast<double>(cases) / static_cast<double>(boards);
}

std::uint32_t least_pairs(double level) {
  if (!(level > 0 && level < 1)) throw UsageError("expected a level between 0 and 1, got " + number_text(level));
  return static_cast<std::uint32_t>(2 * stats::least_for_confidence(level));
}

Decision decide(std::span<const double> log_ratios, const DecisionRule& rule) {
  check_rule(rule);
  for (std::size_t i = 0; i < log_ratios.size(); ++i) {
    if (!std::isfinite(log_ratios[i])) {
      throw UsageError("expected times whose ratio is finite and above 0, got the logarithm " +
                       number_text(log_ratios[i]) + " in pair " + std::to_string(i + 1));
    }
  }
  const std::vector<double> observations = observations_of(log_ratios);
  const Result<stats::MeanInterval> found = stats::confidence_sequence(observations, rule.level);
  if (!found.is_ok()) throw UsageError(found.status().message());
  const stats::MeanInterval& interval = found.value();

  Decision decision;
  decision.correlation = correlation_of(observations, interval.mean, interval.deviation);
  const double reach = std::isinf(interval.high)
                           ? interval.high
                           : (interval.high - interval.mean) * widening(decision.correlation, observations.size());
  const double low = interval.mean - reach, high = interval.mean + reach;
  decision.change = {std::exp(interval.mean), std::exp(low), std::exp(high)};
  decision.verdict = verdict_of(low, high, rule.tolerance);
  if (decision.verdict != Verdict::cannot_tell) {
    decision.state = DecisionState::decided;
  } else if (log_ratios.size() >= rule.most_pairs) {
    decision.state = DecisionState::spent;
    decision.reason = reason_of(decision, log_ratios, rule);
  }
  return decision;
}

Decision decide(const std::vector<Pair>& pairs, const DecisionRule& rule) {
  std::vector<double> log_ratios;
  log_ratios.reserve(pairs.size());
  for (const Pair& pair : pairs) log_ratios.push_back(pair.log_ratio);
  return decide(log_ratios, rule);
}

}  // namespace ferry::gate
