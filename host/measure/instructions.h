// Counts the executed instructions of a call. Emulated boards are judged by them, because an emulator's times mean
// nothing.
//
//     const bench::InstructionCount count = bench::count_instructions(device, function, arguments);
//     if (count.per_call) printf("%.0f\n", *count.per_call); else puts(count.reason.c_str());
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ferry/client.h"

namespace ferry::bench {

// Counts of processors include interrupted work and depend on where interrupts strike, so two of them may differ by
// this much.
inline constexpr double kCounterDisagreement = 1e-3;

struct CountOptions {
  // N below; 0: 1 where an emulator counts, elsewhere as many calls as take 5 ms. At most 2^31 - 1.
  std::uint32_t number = 0;
  std::vector<std::uint32_t> cores = {};  // where the call may run; empty: anywhere
};

struct InstructionCount {
  std::optional<double> per_call;
  bool is_exact = false;  // an emulator counted
  std::string reason;     // why there is no count; empty if there is one
};

// Returns (I(2N) - I(N)) / N, where I(N) are the instructions of a sample of N calls on one thread. What else happens
// in a sample cancels out. This is measured twice, and there is no count unless both agree: exactly where an emulator
// counts, otherwise to kCounterDisagreement. Throws KernelFailed if the kernel fails, and Error.
InstructionCount count_instructions(const Device& device, const Function& function,
                                    const std::vector<Argument>& arguments, const CountOptions& options = {});

// Derives the count of one call of `function` from the instructions of samples of N, 2N, N and 2N calls.
InstructionCount judge_counts(const std::string& function, const std::array<double, 4>& instructions,
                              std::uint32_t number, bool is_exact);

}  // namespace ferry::bench
