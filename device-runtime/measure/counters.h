// The processor's counters (perf_event_open) of this process's threads, in user mode.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace ferry::device {

enum CounterKind : std::uint8_t { kCycles, kInstructions, kCacheMisses, kCounterKinds };
using Counts = std::array<double, kCounterKinds>;

class Counters {
 public:
  Counters() = default;
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;
  ~Counters();

  // For all threads that this process has now. Counters that this machine lacks stay closed.
  void open();
  // errno of why none is open; 0 when one is.
  int error() const { return error_; }

  void start();
  void stop();
  // What was counted since open(), scaled up where counters had to share the hardware; not-a-number for closed ones.
  Counts read() const;

 private:
  struct Open {
    int file;
    CounterKind kind;
  };
  void control(unsigned long request) const;

  std::vector<Open> open_;  // a few a thread
  int error_ = 0;
};

}  // namespace ferry::device
