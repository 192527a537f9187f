// What the threads of a GPU pass each other without memory: the statement `other = shuffle_xor(value, mask);`, a Store
// to a thread's own memory of a Call of that name. The threads of a block are numbered, x the fastest; kWarp
// consecutive ones are a warp, the last one may have fewer. Every thread of the block comes by the same shuffles,
// equally often; of each it gets the value of the thread whose number within the warp is its own ^ mask, from before
// the statement, or just anything when there is no such thread. The mask is the same for all, and below kWarp.
#pragma once

#include "crosscompile/ir/stmt.h"

namespace ferry::ir {

inline constexpr std::int64_t kWarp = 32;

Stmt make_shuffle_xor(BufferRef into, std::vector<Expr> indices, Expr value, Expr mask);
bool is_shuffle(const Call& call);
// Null for any other store.
const Call* shuffle_of(const Store& store);

}  // namespace ferry::ir
