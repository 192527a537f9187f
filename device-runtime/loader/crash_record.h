// Where the code of a process was when a signal stopped it, in memory that another process reads.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>

#include "ferry/hash.h"

namespace ferry::device {

struct Crash {
  std::atomic<int> taken{0};   // a thread is writing or has written the rest
  std::atomic<int> signal{0};  // set last: the other fields are valid
  std::uint64_t address = 0;   // faulting address, or address of the instruction
  Hash module{};               // zeros: the code belongs to no module
  std::uint64_t offset = 0;    // offset in the module's image
};

// Records the signal with which a handler (SA_SIGINFO) was called. Returns false if another thread has done so already
// or is doing it. Safe in signal handlers.
bool record_crash(Crash& crash, int number, const siginfo_t& info, const void* context);

// Copies a record that another process made, if it is complete.
bool copy_crash(Crash& to, const Crash& from);

// Where a process that runs kernels for this one records its crash; null: none runs.
extern std::atomic<const Crash*> crash_of_runner;

}  // namespace ferry::device
