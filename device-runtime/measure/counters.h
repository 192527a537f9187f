// The processor's performance counters (perf_event_open) for the calling thread and those that it starts, in user mode.
// Under an emulator that counts instructions, its count.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "device-runtime/emulator/emulator_count.h"

namespace ferry::device {

enum CounterKind : std::uint8_t { kCycles, kInstructions, kCacheMisses, kCounterKinds };
using Counts = std::array<double, kCounterKinds>;

class Counters {
 public:
  Counters() = default;
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;
  ~Counters();

  // Opens counters for the calling thread and all threads that it starts from now on. Counters that the machine lacks
  // stay closed.
  void open();
  // The errno that explains why no counter is open; 0 if one is.
  int error() const { return error_; }

  struct Open {
    int file;
    CounterKind kind;
  };
  // Those of the machine that are open.
  const std::vector<Open>& opened() const { return open_; }
  // Instead of open(): takes over counters of another process, and why there are none.
  void adopt(std::vector<Open> counters, int error) {
    open_ = std::move(counters);
    error_ = error;
  }

  // Between start() and stop() the process executes the same number of instructions of its own each time.
  void start();
  void stop();
  // Returns the counts while started, scaled up if counters had to share the hardware; not-a-number for closed
  // counters.
  Counts read() const;

 private:
  void control(unsigned long request) const;

  std::vector<Open> open_;
  int error_ = 0;
  EmulatorCount emulator_;
  bool is_emulated_ = false;
  std::uint64_t begin_ = 0, emulated_ = 0;
};

}  // namespace ferry::device
