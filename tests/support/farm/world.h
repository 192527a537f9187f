// Virtual time: a queue of what will happen, random numbers from a seed, and a record of what happened last.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <queue>
#include <stdexcept>
#include <string>
#include <vector>

namespace ferry::test {

// The time of an observer outside of the simulation. No machine of the farm can read it.
struct TrueClock {
  using duration = std::chrono::milliseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<TrueClock>;
  static constexpr bool is_steady = true;
};
using TrueTime = TrueClock::time_point;
using Delay = TrueClock::duration;

// An invariant does not hold.
class SimulationFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// SplitMix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t draw();
  // Returns a number from 0 to `count` - 1.
  std::uint64_t below(std::uint64_t count) { return draw() % count; }
  // Returns true once in `count` times.
  bool once_in(std::uint64_t count) { return below(count) == 0; }
  Delay between(Delay least, Delay most) {
    return least + Delay(below(static_cast<std::uint64_t>((most - least).count()) + 1));
  }

 private:
  std::uint64_t state_;
};

class World {
 public:
  explicit World(std::uint64_t seed) : random(seed) {}

  void after(Delay delay, std::function<void()> what);
  // Lets the next thing happen. Returns false if nothing will ever happen any more.
  bool step();
  void run_until(TrueTime time);

  // Remembers an event for the report of a failure.
  void trace(const char* what, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0);
  // Throws SimulationFailure with the last events.
  [[noreturn]] void fail(const std::string& message) const;

  TrueTime now{};
  Random random;
  std::uint64_t events = 0;  // how many have happened

 private:
  struct Scheduled {
    TrueTime at;
    std::uint64_t order = 0;
    std::function<void()> what;

    bool operator<(const Scheduled& other) const { return at != other.at ? at > other.at : order > other.order; }
  };
  struct Traced {
    TrueTime at;
    const char* what = "";
    std::uint64_t a = 0, b = 0, c = 0;
  };

  std::vector<Scheduled> scheduled_;  // a heap
  std::uint64_t order_ = 0;
  std::vector<Traced> traced_;
  std::size_t next_traced_ = 0;
};

// A clock whose rate is wrong by up to 0.05% either way.
class DriftingClock {
 public:
  explicit DriftingClock(Random& random) : rate_(1 + (static_cast<double>(random.below(1001)) - 500) / 1'000'000) {}

  // Begins to count at zero.
  void restart(TrueTime now) { start_ = now; }
  Delay elapsed(TrueTime now) const {
    return Delay(static_cast<std::int64_t>(static_cast<double>((now - start_).count()) * rate_));
  }
  // How long it takes until the clock has counted so much more; rounded up.
  Delay true_delay(Delay counted) const {
    return Delay(static_cast<std::int64_t>(static_cast<double>(counted.count()) / rate_) + 1);
  }

 private:
  double rate_;
  TrueTime start_{};
};

}  // namespace ferry::test
