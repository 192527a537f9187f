// The results of running a suite.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "ferry/bench/method.h"
#include "ferry/hash.h"
#include "host/gate/api/side.h"
#include "host/gate/api/suite.h"
#include "host/gate/api/verdict.h"

namespace ferry::gate {

// The place where a time was taken. Times of different environments are not comparable.
struct Environment {
  std::string board;      // its name in the farm, or the host's
  std::string processor;  // "cortex-a72"
  std::string kernel;     // "Linux 6.1.0 aarch64"
  std::string governor;   // empty: the board has none
  bool operator==(const Environment&) const = default;

  FERRY_FIELDS((board), (processor), (kernel), (governor));
};

// "rpi4-03, cortex-a72, Linux 6.1.0 aarch64, governor performance"
std::string to_text(const Environment& environment);

// A process that ran both sides in turns, with the code of both in one layout.
struct Pair {
  std::uint32_t layout = 0;
  bool current_first = false;
  PerSide<double> seconds;  // the median of a call
  double log_ratio = 0;     // the median of log(current / baseline) over the pairs of samples
};

// The change of the time as a ratio current / baseline with its interval, which holds at every number of pairs at once.
struct Change {
  double ratio = 1, low = 0, high = 0;  // high is infinite as long as nothing can be said
};

// Executed instructions of a call.
struct Instructions {
  PerSide<double> counts;
  double ratio() const { return counts[Side::current] / counts[Side::baseline]; }
};

// One of the two modules that are compared.
struct SideFacts {
  Hash module{};      // its key in the store
  std::string label;  // the baseline's commit
  std::uint64_t code_bytes = 0, data_bytes = 0;
  double seconds = 0;  // the median over the processes' medians; 0: not measured
  // Who stored it, if that was somebody else and it was to run.
  std::string holder = {};
};

// The differences between the two modules, for a person who asks why one is slower. Texts are unified diffs; empty: no
// difference, or not available.
struct ModuleDiff {
  std::string source, schedule, loops, assembly;
  std::string operators = {};  // networks: added, removed and changed operators, a line each
  bool is_empty() const {
    return source.empty() && schedule.empty() && loops.empty() && assembly.empty() && operators.empty();
  }
};

// Whether the module of a case is the baseline after a run and was not before, and why.
enum class NewBaseline : std::uint8_t {
  none,      // the baseline is as it was
  first,     // there was no baseline
  updated,   // the run was to update the baseline, and nothing was wrong
  accepted,  // the user accepted the case
  outdated,  // it is not: the store keeps a module that was stored later, by a run of another commit
};
inline bool is_new(NewBaseline baseline) { return baseline != NewBaseline::none && baseline != NewBaseline::outdated; }

struct CaseResult {
  std::string name, board;
  Verdict verdict = Verdict::infrastructure;
  std::string reason;  // a sentence; empty where the verdict says it all
  std::string inputs;  // options of the command line that repeat the call; empty: unknown
  double tolerance = 0;
  Environment environment;
  bench::Method method;
  PerSide<SideFacts> sides;
  Change change;
  bool by_instructions = false;  // the verdict rests on instructions, not on the change of the time
  std::optional<Instructions> instructions;
  Limits limits;
  std::optional<double> share_of_peak;
  std::vector<Pair> pairs;
  std::vector<Change> course;  // the change after each observation of two neighbouring pairs
  ModuleDiff diff;
  std::vector<std::string> warnings;
  bool is_accepted = false;  // the user takes the current module as the baseline, whatever the verdict
  NewBaseline new_baseline = NewBaseline::none;
  std::uint32_t tries = 1;  // how often it was tried; 0: the run ended before
};

// Why a run ended without verdicts.
struct RunFailure {
  std::string message;
  int exit_code = 0;  // not 0
};

struct Report {
  std::string suite, baseline;  // names
  std::string label;            // the current side's commit
  std::string version;          // ferry's version
  std::int64_t started = 0;     // seconds since 1970
  double elapsed_seconds = 0;
  UnknownPolicy unknown = UnknownPolicy::fail;
  double error_level = 0.01;  // the probability that any of the intervals is wrong
  std::vector<CaseResult> cases;
  bool is_interrupted = false;
  bool is_update = false;              // modules become the baseline if nothing is wrong
  std::vector<std::string> to_accept;  // cases that the user accepts, whether or not that was possible
  // Names of the suite's other baselines, if it has none of the name above.
  std::vector<std::string> other_baselines;
  // Cases of the baseline that the suite does not have, whatever cases were to run, and what the run makes of them.
  std::vector<std::string> missing;
  MissingPolicy missing_policy = MissingPolicy::allow;
  std::size_t forgotten = 0;  // how many an update has deleted from the baseline
  std::string store_failure;  // why the results could not be stored; empty: they were
  std::optional<RunFailure> failure;
};

// 0 fine, 1 slower, wrong or over a limit, 2 a case of the user failed or is missing, 3 no board, 5 cannot tell
// (docs/gate.md). Where cases that were not accepted call for several, a mistake hides everything else, then comes what
// is worse than the baseline, then a missing board. A run that failed has the code of its failure.
int exit_code(const Report& report);

}  // namespace ferry::gate
