// Finds the commit that made a case slower, among the modules of a store: nothing is compiled again.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "ferry/kernel/observer.h"
#include "ferry/kernel/open_session.h"
#include "host/compiler/api/compiler.h"
#include "host/gate/api/report.h"
#include "host/gate/api/suite.h"
#include "host/gate/run/case_run.h"
#include "host/gate/run/measure_pair.h"
#include "host/gate/store/store.h"

namespace ferry::gate {

struct BisectRequest {
  const Suite& suite;
  const SuiteCase& suite_case;
  const Compiler& compiler;
  Store& store;
  std::string good, bad;  // labels in the history, or unambiguous beginnings of them or of a module's hash
  std::uint64_t seed = 0;
  TrustHolder trust = {};  // asked before a module of somebody else runs; null: all of them run
  MeasurePair measure = measure_pair;
};

// A module that was compared with the good one.
struct BisectStep {
  std::string label;
  std::int64_t when = 0;
  CaseResult result;
  bool is_skipped = false;  // it cannot be compared, for the reason in the result
};

struct Bisection {
  std::vector<BisectStep> steps;        // in the order in which they were measured
  std::string last_good;                // labels of neighbours in the history
  std::string first_bad;                // empty: the bad one is not slower, or nobody can tell
  std::vector<std::string> candidates;  // any of these may be the first bad one: all but the last were skipped
  std::string reason;                   // why there is no first bad one
  std::exception_ptr failure;           // what ended the search early; null: nothing did
};

// Compares the good module with others of the same target, the bad one first, and halves the range between them. A
// module between them that fails, that takes other arguments, that the store has lost, or of which nobody can tell
// whether it is slower, is skipped. Throws UsageError for labels that the history does not have, or several of them,
// and for a good module that cannot be used.
Bisection bisect(const BisectRequest& request, const OpenSession& open, const Observer& observer);

}  // namespace ferry::gate
