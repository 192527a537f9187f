// Says which of two kernels is slower, and by how much (docs/measuring.md, Comparing two kernels).
//
//     const auto kernels = bench::read_pair(compiler.get(), {.file = "mine.c"}, {.file = "mm.tc"});
//     const auto found = bench::compare([](const auto& options) { return connect("pi", options); }, kernels, options);
//     if (found.difference().empty()) puts(stats::to_text(found.times, options.least_effect).c_str());
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>

#include "ferry/bench/comparison.h"
#include "ferry/kernel/observer.h"
#include "ferry/kernel/open_session.h"
#include "host/kernel/kernel.h"

namespace ferry::bench {

struct ComparedKernel {
  KernelSource source;
  std::string function = {};  // empty: the only function
};
using KernelPair = std::array<ComparedKernel, 2>;  // A and B

// Reads both kernels, of any kind that read_kernel() knows. A foreign kernel without a signature is called with that of
// the other. Throws what read_kernel() throws; errors about options name the kernel.
KernelPair read_pair(const Compiler* compiler, const KernelOptions& a, const KernelOptions& b,
                     const Observer& observer = {});

// Runs both kernels once on the same inputs and compares their outputs, and if these are the same, measures both in
// turns in each of several sessions that `open` provides. A session that is lost before anything ran there is opened
// again. Throws UsageError for options out of range, OptionError (same_results) for kernels that cannot be given the
// same inputs, CompileError, KernelFailed if a kernel itself fails, and Error for what the device refuses. After the
// least number of sessions, another one begins only if it would end before `until` when it takes as long as the last.
KernelComparison compare(const OpenSession& open, const KernelPair& kernels, const CompareOptions& options = {},
                         const Observer& observer = {},
                         std::optional<std::chrono::steady_clock::time_point> until = {});

}  // namespace ferry::bench
