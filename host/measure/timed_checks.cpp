#include "ferry/bench/timed_checks.h"

#include <cmath>

namespace ferry::bench {

void TimedChecks::add(const TimedChecks& more) {
  calls += more.calls;
  compared += more.compared;
  elements += more.elements;
  between.insert(between.end(), more.between.begin(), more.between.end());
}

double TimedChecks::seen_share(std::uint64_t number) {
  constexpr double kMissed = 0.05;
  return number == 0 ? 1 : -std::expm1(std::log(kMissed) / static_cast<double>(number));
}

}  // namespace ferry::bench
