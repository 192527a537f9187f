// Values that the threads of a GPU exchange without memory: the statement `other = shuffle_xor(value, mask);`, a Store
// of a Call to a thread's own memory. The threads of a block are numbered, x fastest; kWarp consecutive
// threads form a warp, of which the last may have fewer. All threads of a block must reach every shuffle, equally often
// (convergence). A thread receives the value that the thread with number ^ mask within the warp had before the
// statement, or an unspecified value when there is no such thread. The mask is the same for all threads, and below
// kWarp.
#pragma once

#include "crosscompile/ir/stmt.h"

namespace ferry::ir {

inline constexpr std::int64_t kWarp = 32;

Stmt make_shuffle_xor(BufferRef into, std::vector<Expr> indices, Expr value, Expr mask);
// Returns null for any other store.
const Call* shuffle_of(const Store& store);

}  // namespace ferry::ir
