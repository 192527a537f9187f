// Runs one case on one board.
#pragma once

#include <functional>

#include "ferry/kernel/observer.h"
#include "host/gate/run/open_board.h"
#include "host/gate/run/run_context.h"
#include "host/stats/random.h"

namespace ferry::gate {

// Throws Error if the board, the connection or the store fails. What is the user's mistake, or a failure of a kernel,
// is the verdict.
CaseOutcome run_case(const RunContext& context, const SuiteCase& suite_case, OpenBoard& board, stats::Random& random,
                     const Observer& observer);

// Runs one case; run_case() with a context, but for tests.
using RunCase = std::function<CaseOutcome(const SuiteCase& suite_case, OpenBoard& board, stats::Random& random,
                                          const Observer& observer)>;

}  // namespace ferry::gate
