// Copies that a thread starts and does not wait for. Where buffers are filled ahead (Buffer::is_ahead), the stores of a
// thread into them are put into groups, each ended by the statement `commit_copies();`, and are known to have landed
// only behind a statement `wait_copies(n);`, which waits for all groups but the n last ones; for other threads behind a
// barrier after that. A store lands at once all the same unless it is an Intrinsic kCopyAsync(to, from, bytes), which a
// target that has them makes of it (passes/copy_async.h).
//
//     commit_copies()            fetched before the loop: the parts of iterations 0 and 1
//     commit_copies()
//     for (k)
//       wait_copies(1)           all but the last: the part of this iteration is there
//       S[(k + 2) % 3] = A[k + 2]
//       commit_copies()
//       ... S[k % 3] ...
#pragma once

#include "crosscompile/ir/stmt.h"

#include <optional>

namespace ferry::ir {

inline constexpr const char* kCopyAsync = "copy_async";

Stmt make_commit_copies();
Stmt make_wait_copies(std::int64_t groups_left);

bool is_commit_copies(const Evaluate& statement);
// How many groups may be on their way still; nothing for any other statement.
std::optional<std::int64_t> groups_left(const Evaluate& statement);
// Whether it is one of the two.
bool orders_copies(const Evaluate& statement);

}  // namespace ferry::ir
