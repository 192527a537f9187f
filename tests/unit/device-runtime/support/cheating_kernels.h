// Kernels that cheat when they are measured, by what the literature on judging kernels reports. Each has the honest
// kernel's signature, square(in f32[n] X, out f32[n] Y), which it computes in at least one call.
#pragma once

#include "tests/unit/device-runtime/support/test_client.h"

namespace ferry::test {

struct Cheat {
  const char* function;
  const char* description;
  // It only computes, so that it does the same on every architecture and system.
  bool is_portable = false;
};

// The module for the server's architecture, with "square" and a function for each cheat.
const Bytes& cheating_kernels();
// Those that end the process at the forbidden system call or access.
const std::vector<Cheat>& stopped_cheats();
// Those that leave outputs of timed calls without a result.
const std::vector<Cheat>& seen_cheats();
// Those that say that a window is over before the work is done, each in its own way, one of which their judge listens
// to.
const std::vector<Cheat>& early_cheats();
// Those that say that a window is over when their work is done, and run on for less than a millisecond, each on a
// descriptor of its own.
const std::vector<Cheat>& lying_cheats();
// Those that write a result that they kept from other inputs.
const std::vector<Cheat>& copying_cheats();
// Those that compute something else, the same in each process, which only the definition tells.
const std::vector<Cheat>& inexact_cheats();
// Those that are right for the size that is timed, and wrong for others.
const std::vector<Cheat>& size_cheats();
// Those that compute the right result and lie about the time, or would be faster if they had seen the inputs before.
const std::vector<Cheat>& timed_cheats();
// Those that break what calls them: they end their process, leave outputs unwritten, or gain nothing.
const std::vector<Cheat>& breaking_cheats();
// Those that look for what others have left, and write what they find instead of a result.
const std::vector<Cheat>& looking_cheats();
// All lists of kernels that cheat.
std::vector<const std::vector<Cheat>*> all_cheats();

}  // namespace ferry::test
