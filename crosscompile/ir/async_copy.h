// Asynchronous copies, which a thread starts and does not wait for. The stores of a thread into buffers that are filled
// asynchronously (StorageAttributes::filled_asynchronously) form groups, each ended by the statement
// `commit_copies();`. They are guaranteed to be complete only after a statement `wait_copies(n);`, which waits for all
// but the last n groups, and for other threads only after a barrier that follows it. A store nevertheless completes at
// once unless it is an InstructionStmt copy_async(to, from, bytes), into which passes/gpu/copy_async.h turns it for
// targets that have asynchronous copies.
//
//     commit_copies()            fetched before the loop: the parts of iterations 0 and 1
//     commit_copies()
//     for (k)
//       wait_copies(1)           all but the last group: the part of this iteration is complete
//       S[(k + 2) % 3] = A[k + 2]
//       commit_copies()
//       ... S[k % 3] ...
#pragma once

#include "crosscompile/ir/stmt.h"

#include <optional>

namespace ferry::ir {

Stmt make_commit_copies();
Stmt make_wait_copies(std::int64_t groups_left);

bool is_commit_copies(const Evaluate& statement);
// Returns how many groups may still be in flight; nothing for any other statement.
std::optional<std::int64_t> groups_left(const Evaluate& statement);
// Returns whether the statement is a commit or a wait.
bool orders_copies(const Evaluate& statement);

}  // namespace ferry::ir
