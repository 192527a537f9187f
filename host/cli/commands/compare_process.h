// One process of a comparison: measures both kernels in turns in a fresh session, under one layout of code and data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/bench/sampling.h"
#include "host/cli/options/remote.h"
#include "host/kernel/call_plan.h"
#include "host/kernel/compile_kernel.h"
#include "host/stats/random.h"

namespace ferry::cli {

struct ComparedKernel {
  KernelSource source;
  std::string function;  // empty: the only function
};

// The random layout of a process, which is recorded in the JSON.
struct ProcessLayout {
  std::uint32_t code_padding[2] = {0, 0};  // bytes before the code of A and B
  std::uint64_t memory_pages = 0;          // allocated before anything else
  std::vector<std::uint64_t> offsets;      // offset of each tensor from the start of a page, in bytes
  bool b_first = false;
};

struct ComparedProcess {
  ProcessLayout layout;
  Timing timings[2];     // results of A and B
  double log_ratio = 0;  // the median of log(time of A / time of B) over the pairs of samples
};

struct CompareSetup {
  ComparedKernel kernels[2];
  CallOptions call;
  bench::SamplingOptions sampling;
  RemoteOptions remote;
  std::string target;
  Observer observer;
};

// Properties that are the same in every process, for reports.
struct ComparedFacts {
  FunctionInfo functions[2];
  std::vector<std::int64_t> symbols[2];
  std::string device, processor;
  DeviceFacts facts;
  std::string target;
};

ComparedProcess measure_process(const CompareSetup& setup, stats::Random& random, ComparedFacts& facts);

}  // namespace ferry::cli
