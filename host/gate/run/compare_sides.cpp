#include "host/gate/run/compare_sides.h"

#include <numeric>
#include <set>
#include <string>

#include "host/measure/code_layout.h"
#include "host/stats/summary.h"

namespace ferry::gate {

namespace {

double median_seconds(const std::vector<Pair>& pairs, Side side) {
  std::vector<double> seconds;
  for (const Pair& pair : pairs) seconds.push_back(pair.seconds[side]);
  return stats::median(seconds);
}

// Collects warnings, of which those that differ in numbers alone are one.
class Warnings {
 public:
  explicit Warnings(std::vector<std::string>& all) : all_(all) {}

  void add(const std::string& warning) {
    std::string without_numbers = warning;
    std::erase_if(without_numbers, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
    if (known_.insert(without_numbers).second) all_.push_back(warning);
  }

 private:
  std::vector<std::string>& all_;
  std::set<std::string> known_;
};

}  // namespace

std::vector<std::uint32_t> shuffled_layouts(stats::Random& random) {
  std::vector<std::uint32_t> layouts(bench::kLayouts);
  std::iota(layouts.begin(), layouts.end(), 0u);
  for (std::size_t i = layouts.size(); i > 1; --i) std::swap(layouts[i - 1], layouts[random.below(i)]);
  return layouts;
}

void compare_sides(const OpenSession& open, const MeasuredCase& measured, const PerSide<MeasuredSide>& sides,
                   const DecisionRule& rule, stats::Random& random, const Observer& observer, CaseResult& result) {
  const std::vector<std::uint32_t> layouts = shuffled_layouts(random);
  Warnings warnings(result.warnings);
  Decision decision;
  bool current_first = false;
  const std::uint64_t seed = result.method.seed;  // the case's seed
  std::size_t impossible = 0;
  std::string why;
  while (decision.state == DecisionState::more) {
    if (observer.must_end()) {
      result.verdict = Verdict::interrupted;
      result.reason = "the run was interrupted";
      return;
    }
    const std::size_t count = result.pairs.size();
    const StepGuard step = observer.begin("measuring " + result.name + ", pair " + std::to_string(count + 1) +
                                          " of at most " + std::to_string(rule.most_pairs));
    // The order is random, and the opposite in the second of two neighbouring pairs: what the order does to their
    // times cancels in their average.
    current_first = count % 2 == 0 ? random.below(2) == 1 : !current_first;
    const std::uint32_t layout = layouts[count % layouts.size()];
    const MeasuredPair pair = measured.measure(open, measured, sides, layout, current_first, random, observer);
    if (result.pairs.empty()) {
      result.environment = pair.environment;
      result.method = pair.method;
      result.method.seed = seed;
    }
    expect_same_environment(result.environment, pair.environment);
    for (const std::string& warning : pair.warnings) warnings.add(warning);
    result.pairs.push_back(pair.pair);
    if (!pair.impossible.empty()) {
      ++impossible;
      why = pair.impossible;
    }
    decision = decide(result.pairs, rule);
    result.change = decision.change;
    if (count % 2 == 1) result.course.push_back(decision.change);
  }
  for (const Side side : kSides) result.sides[side].seconds = median_seconds(result.pairs, side);
  result.verdict = decision.verdict;
  result.reason = decision.reason;
  // Memory may have been slow in one process alone.
  if (impossible > result.pairs.size() / 2) {
    result.verdict = Verdict::cannot_tell;
    result.reason = "impossible: " + why;
  }
}

}  // namespace ferry::gate
