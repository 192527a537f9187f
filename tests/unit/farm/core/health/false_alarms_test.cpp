// Simulates boards that are checked every half hour, with kinds of noise that real ones have: how often a healthy board
// fails, and how soon one fails that has become slower. FERRY_BOARD_YEARS sets how many years are simulated.
#include "farm/core/health/health_judge.h"
#include "host/stats/random.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

using namespace ferry;
using namespace ferry::farm;

namespace {

constexpr int kChecksAYear = 2 * 24 * 365;

int board_years() {
  const char* text = std::getenv("FERRY_BOARD_YEARS");
  return text == nullptr ? 12 : std::atoi(text);
}

enum class Noise { quiet, normal, skewed, daily, correlated, two_speeds };
const std::string kNames[] = {"quiet", "normal", "skewed", "daily", "correlated", "two speeds"};

// Gives a board's times as multiples of those without noise.
class Board {
 public:
  Board(Noise noise, std::uint64_t seed) : noise_(noise), random_(seed) {}

  HealthCheck check(double factor = 1) {
    ++checks_;
    wander_ = 0.7 * wander_ + 0.7 * random_.normal();
    HealthCheck made{{}, {}};
    for (std::size_t s = 0; s < kHealthSessions; ++s) {
      HealthTimes times{};
      for (double& seconds : times) seconds = 1e-3 * factor * time();
      made.sessions.push_back(times);
    }
    return made;
  }

 private:
  double time() {
    const double small = 1 + 0.01 * random_.normal();
    switch (noise_) {
      case Noise::quiet: return 1 + 0.005 * random_.normal();
      case Noise::normal: return 1 + 0.02 * random_.normal();
      case Noise::skewed: return std::exp(0.03 * random_.normal()) + (random_.uniform() < 0.05 ? random_.uniform() : 0);
      case Noise::daily: return small + 0.015 * std::sin(checks_ * 2 * 3.14159265 / 48);
      case Noise::correlated: return small + 0.01 * wander_;
      case Noise::two_speeds: return small * (random_.uniform() < 0.3 ? 1.04 : 1);
    }
    return 1;
  }

  Noise noise_;
  stats::Random random_;
  double wander_ = 0;
  int checks_ = 0;
};

constexpr Noise kAll[] = {Noise::quiet, Noise::normal,     Noise::skewed,
                          Noise::daily, Noise::correlated, Noise::two_speeds};

}  // namespace

TEST_CASE("a healthy board fails at most once a year, whatever its noise") {
  for (const Noise noise : kAll) {
    int failed = 0;
    for (int year = 0; year < board_years(); ++year) {
      HealthJudge judge;
      Board board(noise, static_cast<std::uint64_t>(year));
      for (int i = 0; i < kChecksAYear; ++i)
        failed += judge.judge(board.check()).verdict == HealthVerdict::failed ? 1 : 0;
    }
    MESSAGE(kNames[static_cast<int>(noise)] << ": " << failed << " failed checks in " << board_years() << " years");
    CHECK(failed <= board_years());
  }
}

TEST_CASE("a board that has become slower fails within two checks, on quiet boards from a few percent on") {
  for (const auto& [noise, factor] : {std::pair(Noise::quiet, 1.07),
                                      {Noise::normal, 1.2},
                                      {Noise::skewed, 1.4},
                                      {Noise::daily, 1.2},
                                      {Noise::correlated, 1.25},
                                      {Noise::two_speeds, 1.25}}) {
    int found = 0;
    constexpr int kBoards = 200;
    for (int b = 0; b < kBoards; ++b) {
      HealthJudge judge;
      Board board(noise, static_cast<std::uint64_t>(b));
      for (std::size_t i = 0; i < kBaselineChecks + 5; ++i) judge.judge(board.check());
      judge.judge(board.check(factor));
      found += judge.judge(board.check(factor)).verdict == HealthVerdict::failed ? 1 : 0;
    }
    MESSAGE(kNames[static_cast<int>(noise)] << ", " << factor << ": " << found << " of " << kBoards);
    CHECK(found >= kBoards * 95 / 100);
  }
}
