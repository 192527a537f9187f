// Runs a suite: its cases on boards, each of which compares the current kernel with the baseline's.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "ferry/kernel/observer.h"
#include "ferry/kernel/open_session.h"
#include "host/compiler/api/compiler.h"
#include "host/gate/api/report.h"
#include "host/gate/api/suite.h"
#include "host/gate/run/case_run.h"
#include "host/gate/store/store.h"

namespace ferry::gate {

// A board on which cases run, one at a time. Boards with the same name share the cases of that name.
struct GateBoard {
  std::string name;
  std::string label;  // what reports call it
  // Returns a way to open sessions, all of them on one board. Called again when that board is lost: a farm then gives
  // another one.
  std::function<OpenSession()> acquire;
  bool is_here = false;  // it is this machine
};

struct SuiteRequest {
  const Suite& suite;
  const Compiler& compiler;
  Store& store;
  std::string baseline = "main";
  std::string label = {};               // the current side's
  bool update = false;                  // the current modules become the baseline if the exit code is 0
  std::set<std::string> accepted = {};  // cases whose current module becomes the baseline whatever the verdict
  std::set<std::string> cases = {};     // to run; empty: all
  std::vector<GateBoard> boards = {};   // at least one for each name that a case refers to
  std::uint64_t seed = 0;               // draws layouts and roles
  TrustHolder trust = {};               // null: baselines run whoever has stored them
  MissingPolicy missing = MissingPolicy::allow;
  ReadTuned tuned = {};  // null: no case may have records
};

// Returns a result for each case on each of its boards, in the order of the suite. A case whose board is lost is tried
// again on another one. Throws UsageError for the name of a baseline that the suite does not have, but a similar one,
// unless the run is to update it. If the observer interrupts the run, the cases that were not finished say so. Throws
// StoreFailed if the store cannot be used; what goes wrong when the results are stored is part of the report. With
// several boards the observer is called on several threads, one at a time, and is told of no steps.
Report run_suite(const SuiteRequest& request, const Observer& observer);
// The same with another function for each case.
Report run_suite(const SuiteRequest& request, const RunCase& run_case, const Observer& observer);

}  // namespace ferry::gate
