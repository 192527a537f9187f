// Kernels of one block of threads for the tests of the passes on GPU code, and where their barriers stand.
#pragma once

#include "tests/unit/crosscompile/passes/kernel.h"

#include <string>
#include <vector>

namespace ferry::passes {

inline constexpr ir::ForKind kBlocks = ir::ForKind::block_x;
inline constexpr ir::ForKind kThreads = ir::ForKind::thread_x;

inline ir::BufferRef shared(const std::string& name, std::vector<ir::Expr> shape, DType dtype = DType::i32) {
  return array(name, dtype, std::move(shape), ir::Scope::shared);
}

// for (thread in count) [threadIdx.x] body, with the arrays allocated around it.
ir::Stmt of_threads(const ir::Expr& thread, std::int64_t count, const std::vector<ir::BufferRef>& arrays,
                    ir::Stmt body);

// Describes the place of each barrier, in order: the variables of the serial loops around it, and what follows it, a
// loop by its variable and a store by its buffer. "k m: before S", "k: before m", "at the end".
using Places = std::vector<std::string>;
Places barriers(const ir::Stmt& stmt);

// Returns for each store to a buffer of this name, in order, the variables of all loops around it: "b t k".
Places stores(const ir::Stmt& stmt, const std::string& buffer);

// Returns the interpreter's error; "none" if there is none.
std::string complaint(const ir::Function& function, const std::vector<std::int64_t>& sizes);

// Returns the CompileError's message; "none" if there is none.
std::string refusal(const std::function<void()>& compile);

}  // namespace ferry::passes
