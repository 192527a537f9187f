// Searches for the schedules and algorithms with which a network runs fastest on a device.
//
// Its kernels are tuned like programs by themselves, under the same keys of records, in turns of a few seconds: the
// next turn goes to the kernel from which the most is to be expected. A kernel that other algorithms may compute as
// fast is tuned with each of these too. In the end the best schedules run in the network itself. Those whose steps
// became faster there are kept, the network with all of them is compared with the one that has default schedules, and
// if that is slower, they are confirmed in the records.
#pragma once

#include "host/tune/network/measured_layouts.h"
#include "host/tune/network/network_task.h"
#include "host/tune/tune.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ferry::tune {

// The result for a kernel with another algorithm.
struct AlgorithmResult {
  std::string algorithm;
  KernelState state = KernelState::waiting;
  std::string reason = {};     // why it failed
  double estimated_share = 1;  // its estimated time over that of the default's algorithm
  std::uint64_t trials = 0;    // in this run
  double best_share = 1;       // the best time by itself, as a share of the default's; estimated without trials
};

// A kernel of the network, and what was found.
struct NetworkKernelResult {
  std::string kernel;              // its name in the network
  std::vector<std::string> nodes;  // what it computes, one for each call
  KernelState state = KernelState::waiting;
  std::string reason = {};     // why it failed
  double seconds = 0;          // all its calls in a call of the network, with the default schedule
  double estimate = 0;         // the device takes at least so long, from its peaks; 0: not known
  std::uint64_t trials = 0;    // in this run
  double best_share = 1;       // the best time by itself, as a share of the default's
  std::string algorithm = {};  // the default's; empty: there is no other
  std::vector<AlgorithmResult> others = {};
  std::string point = {};            // with which it ran in the network; empty: with none
  std::string point_algorithm = {};  // the point's, if it is another one
  double share_in_network = 1;       // its time there as a share of the default's
  bool is_used = false;              // it was faster there
};

struct TunedNetwork {
  std::string function;
  std::vector<NetworkKernelResult> kernels;  // in the order of their first calls
  // The time that other layouts took; nothing if there are none, or there was no time.
  std::optional<MeasuredLayouts> layouts = {};
  double other_seconds = 0;  // steps that are none of these kernels
  Progress progress;         // times are those of the network
  // The network with default schedules is A, with the best ones B. Nothing if there were none.
  std::optional<bench::KernelComparison> comparison = {};
  bool is_faster = false;
  bool is_interrupted = false;
};

// `kernel` is a network; knobs of schedules, open sizes and other searchers are not for it. on_trial() gets the
// records of kernels, and the progress of the whole. Throws as tune().
TunedNetwork tune_network(std::span<const bench::NamedDevice> devices, const TunedKernel& kernel,
                          const TuneOptions& options, const Observer& observer = {});

}  // namespace ferry::tune
