// What the cases of a run have in common, and what comes of each.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "host/compiler/api/compiler.h"
#include "host/gate/api/report.h"
#include "host/gate/run/measure_pair.h"
#include "host/gate/store/store.h"

namespace ferry::gate {

// Decides whether the module of a case that this holder has stored may run on this machine: it is native code. Throws
// UsageError if not.
using TrustHolder = std::function<void(const std::string& holder, const std::string& module)>;

// Returns the schedules in a file of records, for loops of up to so many threads; 0: as many as the device has. Called
// by one thread at a time.
using ReadTuned = std::function<std::shared_ptr<const TunedSchedules>(const std::string& file, std::uint32_t threads)>;

// The settings that the cases of a run have in common. The store and the compiler are used by one thread at a time.
struct RunContext {
  const Compiler& compiler;
  Store& store;
  const Baseline& baseline;
  std::string label;    // the current side's
  double level = 0.01;  // the error level for each decision
  std::uint32_t most_pairs;
  std::mutex& shared;      // for the store and the compiler
  std::string suite_file;  // for messages
  TrustHolder trust = {};  // null: modules run whoever has stored them; called by one thread at a time
  // Cases of the baseline that the suite has under no name, neither their own nor an earlier one.
  std::vector<CaseTarget> missing_cases = {};
  MeasurePair measure = measure_pair;
  ReadTuned tuned = {};  // null: no case may have records
};

struct CaseOutcome {
  CaseResult result;
  std::string target;                  // what the case was compiled for
  std::optional<StoredModule> module;  // the current side's, which is in the store; nothing if it was not compiled
  bool has_run = false;                // the current side was called and did not fail
  bool is_renamed = false;             // its baseline is that of its earlier name
};

}  // namespace ferry::gate
