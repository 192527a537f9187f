// Searches for the schedule with which a kernel runs fastest on a device, and records all that was measured.
//
//     const tune::Tuned tuned = tune::tune(devices, {source, "mm"}, {.call = {.sizes = {"M=512,N=512,K=512"}},
//                                          .budget_seconds = 30, .records = "tuned.jsonl"});
//
// A task is a function with the sizes of a call; these are fixed in the code that is tried, unless they are to stay
// open. Code is compiled in processes of its own while other code runs, compared with what the default schedule
// computes, and measured. In the end the best is compared with the default as `ferry compare` does, and only that
// counts.
#pragma once

#include "ferry/bench/comparison.h"
#include "ferry/bench/measure_options.h"
#include "ferry/kernel/call_options.h"
#include "ferry/kernel/observer.h"
#include "host/kernel/kernel.h"
#include "host/measure/roofline.h"
#include "host/tune/builder/builder.h"
#include "host/tune/records/tune_record.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ferry::tune {

struct TunedTask;

struct TunedKernel {
  KernelSource source;        // in ferry's own notation; its own schedule has knobs
  std::string function = {};  // empty: the only one
  std::string target = {};    // empty: that of the devices
};

// The state of a search, as it is shown.
struct Progress {
  double seconds = 0;                            // since the start
  std::map<Outcome, std::uint64_t> trials = {};  // what came of them
  std::uint64_t points = 0;                      // in the space, for the default's decisions
  double default_seconds = 0, best_seconds = 0;  // a call's; 0: not known yet
  std::string best_point = {}, trying = {};      // the fastest, and one that runs now; empty: not known
  std::optional<bench::Roofline> roofline = {};  // if the device's peaks were measured
  std::uint64_t count() const {
    std::uint64_t all = 0;
    for (const auto& [outcome, number] : trials) all += number;
    return all;
  }
};

struct TuneOptions {
  CallOptions call = {};
  bool open_sizes = false;     // tune the code for any sizes, as it performs at these
  double budget_seconds = 60;  // for everything; 0: no limit
  std::uint64_t trials = 0;    // points that are tried, if that is limited
  bool has_trials_limit = false;
  std::uint64_t seed = 0;     // draws what is tried
  std::string searcher = {};  // a command that decides what is tried instead (host/tune/foreign)
  std::string records;        // the file to which records are appended, and from which earlier ones are taken
  std::vector<std::uint32_t> cores = {};  // as of BenchOptions
  std::uint32_t threads = 0;              // the same
  unsigned builders = 0;                  // processes that compile; 0: one for each processor of this machine
  bool is_local = false;                  // the device is this machine: nothing is compiled while something is timed
  std::uint32_t processes = 12;           // in which the best is compared with the default; 0: it is not
  bool peak = false;                      // measure what the device can do at best, before the search
  // Called after each trial, on the thread that called tune().
  std::function<void(const TuneRecord& trial, const Progress& progress)> on_trial = {};
  // Makes the builder; empty: one that compiles in processes of its own.
  std::function<std::unique_ptr<Builder>(const Compile& compile)> make_builder = {};
};

struct Tuned {
  TuneRecord best;         // with the outcome measured; of the default schedule if nothing was faster
  bool is_faster = false;  // than the default, by what was confirmed, or measured if nothing was to be confirmed
  Progress progress;
  std::optional<bench::KernelComparison> comparison = {};  // the default is A, the best is B
  std::size_t earlier = 0;                                 // records of the task that were there before
  std::optional<double> earlier_share = {};                // the best of these, of the default's time
  bool is_interrupted = false;
  std::string searcher_failure = {};  // why the user's own search ended early; empty if it did not
  std::shared_ptr<const TunedTask> task = {};
};

// Devices of one kind share the work. The observer may interrupt it: what was found stays recorded, and a second start
// goes on. Throws UsageError for a kernel that has no space, OptionError and CompileError as compile_kernel(),
// KernelFailed and Error if the default schedule itself cannot be measured, and Error if all devices are gone.
Tuned tune(std::span<const bench::NamedDevice> devices, const TunedKernel& kernel, const TuneOptions& options,
           const Observer& observer = {});

}  // namespace ferry::tune
