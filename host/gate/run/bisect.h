// Finds the commit that made a case slower, among the modules of a store: nothing is compiled again.
#pragma once

#include <string>
#include <vector>

#include "ferry/kernel/observer.h"
#include "ferry/kernel/open_session.h"
#include "host/compiler/api/compiler.h"
#include "host/gate/api/report.h"
#include "host/gate/api/suite.h"
#include "host/gate/store/store.h"

namespace ferry::gate {

struct BisectRequest {
  const Suite& suite;
  const SuiteCase& suite_case;
  const Compiler& compiler;
  Store& store;
  std::string good, bad;  // labels in the history, or unambiguous beginnings of them or of a module's hash
  std::uint64_t seed = 0;
};

// A module that was compared with the good one.
struct BisectStep {
  std::string label;
  std::int64_t when = 0;
  CaseResult result;
};

struct Bisection {
  std::vector<BisectStep> steps;  // in the order in which they were measured
  std::string last_good;          // labels of neighbours in the history
  std::string first_bad;          // empty: the bad one is not slower, or nobody can tell
  std::string reason;             // why there is no first bad one
};

// Compares the good module with others of the same target, the bad one first, and halves the range between them. Throws
// UsageError for labels that the history does not have, and Error if a board or the store fails.
Bisection bisect(const BisectRequest& request, const OpenSession& open, const Observer& observer);

}  // namespace ferry::gate
