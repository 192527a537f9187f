// Accesses of a block's threads to shared memory, and which two of them may touch the same element: the facts that
// insert_barriers.cpp propagates through a kernel.
#pragma once

#include "crosscompile/ir/stmt.h"
#include "crosscompile/passes/gpu/thread_group.h"

#include <span>
#include <unordered_map>
#include <vector>

namespace ferry::passes {

// A variable and the only value that it has where a condition holds; nothing when there is no such variable.
struct OnlyIteration {
  ir::Expr var;
  std::int64_t value = 0;
};

// An access to an element of shared memory.
struct SharedAccess {
  const ir::Buffer* buffer;
  const std::vector<ir::Expr>* indices;
  const ir::Store* store;      // null for a read
  ir::Expr buffer_index;       // the first index, as long as it tells iterations apart
  OnlyIteration only_in = {};  // the access happens only in this iteration of a loop
};
using SharedAccesses = std::vector<SharedAccess>;

bool contains(const SharedAccesses& all, const SharedAccess& access);
void add_once(SharedAccesses& all, const SharedAccess& access);
void add_once(SharedAccesses& all, const SharedAccesses& more);

// Moves accesses into the next iteration of a loop: its variable was one less when they happened.
void enter_next_iteration(SharedAccesses& accesses, const ir::Expr& var);
// Moves accesses behind the loop, where its variable is no longer known.
void leave_loop(SharedAccesses& accesses, const ir::Expr& var);

// Finds the accesses of statements inside a nest of loops over threads.
class SharedAccessFinder {
 public:
  explicit SharedAccessFinder(std::span<const ThreadAxis> axes);

  // Records how many values a variable takes, before the accesses in its scope are compared.
  void define(const ir::For& loop);
  void define(const ir::LetStmt& let);

  // Recognises "k < 1" and "k == 0" for a short loop that begins at 0.
  OnlyIteration only_iteration(const ir::Expr& condition) const;

  // Returns the accesses of a statement or expression in the iteration `only_in`.
  SharedAccesses in(const ir::Stmt& stmt, const OnlyIteration& only_in) const;
  SharedAccesses in(const ir::Expr& expr, const OnlyIteration& only_in) const;

  // Returns after how many iterations of a loop with this body nothing new can collide: 2, or more where the parts of
  // an array rotate or an access happens in one iteration only.
  std::int64_t distinct_iterations(const ir::For& loop, const OnlyIteration& only_in) const;

  // Returns the first new access that may touch the element of an old one of another thread, one of the two a store;
  // null if there is none.
  const SharedAccess* conflict(const SharedAccesses& old, const SharedAccesses& now) const;

 private:
  bool may_collide(const SharedAccess& first, const SharedAccess& second) const;
  bool is_own(const SharedAccess& first, const SharedAccess& second) const;
  void add_determined(const ir::Expr& index, std::vector<ir::Expr>& known) const;

  // Loops that may be followed iteration by iteration, with their first values and trip counts.
  struct ShortLoop {
    std::int64_t first = 0, iterations = 0;
  };

  std::vector<ir::Expr> threads_;
  std::unordered_map<const ir::ExprNode*, std::int64_t> ranges_;  // number of values; -1 when that is unknown
  std::unordered_map<const ir::ExprNode*, ShortLoop> short_loops_;
};

}  // namespace ferry::passes
