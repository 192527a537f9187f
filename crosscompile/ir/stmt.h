// Statements: loops, stores and the nodes that compose them.
#pragma once

#include "crosscompile/ir/expr.h"

namespace ferry::ir {

// Writes one element, or one per lane (lanes that write the same element do so in lane order); lanes whose mask is
// false write nothing. Indices are as in Load.
struct Store : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Store;
  BufferRef buffer;
  std::vector<Expr> indices;
  Expr value;
  Expr mask;
  static Stmt make(BufferRef buffer, std::vector<Expr> indices, Expr value, Expr mask = {});
};

enum class ForKind : std::uint8_t {
  serial,
  parallel,    // iterations in any order, on several threads
  vectorized,  // constant extent; replaced by vector nodes
  unrolled,    // constant extent; replaced by copies of the body
  // On a GPU: iterations in any order, each by one block of threads.
  block_x,
  block_y,
  block_z,
  // Constant extent: iterations in any order, each on one thread of the block. The pass map_threads turns them into a
  // nest around the whole body of the block, which the threads run concurrently, from barrier to barrier
  // (ir/barrier.h).
  thread_x,
  thread_y,
  thread_z,
  vthread,  // constant extent: iterations in any order, all on one thread
  // Constant extent: each iteration combines the partial result of one thread of a block, in shared memory, with the
  // result so far, in any order and in any pairs. The pass reduce_threads distributes the work over the threads.
  combine,
};

constexpr bool is_block(ForKind kind) { return kind >= ForKind::block_x && kind <= ForKind::block_z; }
constexpr bool is_thread(ForKind kind) { return kind >= ForKind::thread_x && kind <= ForKind::thread_z; }
// Returns 0 for x to 2 for z, for loops over blocks or threads.
constexpr std::size_t gpu_axis(ForKind kind) {
  return static_cast<std::size_t>(kind) -
         static_cast<std::size_t>(is_block(kind) ? ForKind::block_x : ForKind::thread_x);
}
// Returns "blockIdx.x", "threadIdx.y", "vthread" or "parallel", for example; "" for serial loops.
const char* kind_name(ForKind kind);

// for (var = min; var < min + extent; ++var) body. An extent below 1 runs nothing.
struct For : StmtNode {
  static constexpr StmtKind kKind = StmtKind::For;
  Expr var, min, extent;
  ForKind for_kind;
  Stmt body;
  static Stmt make(Expr var, Expr min, Expr extent, ForKind kind, Stmt body);
};

// A sequence of statements. make() flattens nested blocks; a block of one statement is that statement.
struct Block : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Block;
  std::vector<Stmt> body;
  static Stmt make(std::vector<Stmt> body);
};

struct If : StmtNode {
  static constexpr StmtKind kKind = StmtKind::If;
  Expr condition;
  Stmt on_true, on_false;  // on_false may be nothing
  static Stmt make(Expr condition, Stmt on_true, Stmt on_false = {});
};

enum class WorkspaceKind : std::uint8_t {
  call,    // one block per call, shared by its threads
  thread,  // one block per thread that runs iterations of a parallel loop
};

// The buffer exists, with undefined contents, while body runs. The pass plan_workspace gives every buffer of
// Scope::global an `offset`: it then starts this many bytes (over the function's symbols, a multiple of 64) into the
// given block of the workspace. Before that, and for other scopes, `offset` is nothing. Buffers that are never needed
// at the same time may share bytes, so the contents last only from the first access in body to the last.
struct Allocate : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Allocate;
  BufferRef buffer;
  Stmt body;
  Expr offset;
  WorkspaceKind workspace;  // meaningful only with an offset
  static Stmt make(BufferRef buffer, Stmt body, Expr offset = {}, WorkspaceKind workspace = WorkspaceKind::call);
};

struct LetStmt : StmtNode {
  static constexpr StmtKind kKind = StmtKind::LetStmt;
  Expr var, value;
  Stmt body;
  static Stmt make(Expr var, Expr value, Stmt body);
};

// Leaves the kernel with the result 1 + message when the condition is false; message indexes the function's list.
struct Assert : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Assert;
  Expr condition;
  std::uint32_t message;
  static Stmt make(Expr condition, std::uint32_t message);
};

// Evaluates a call for its side effect.
struct Evaluate : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Evaluate;
  Expr value;
  static Stmt make(Expr value);
};

// copy_async: ir/async_copy.h. mma_m16n8k16: passes/tensorize/tensor_core.h. tile_dot and tile_sums:
// passes/tensorize/tile_dot.h.
#define FERRY_IR_INSTRUCTIONS(X) \
  X(copy_async)                  \
  X(mma_m16n8k16)                \
  X(tile_dot)                    \
  X(tile_sums)

enum class Instruction : std::uint8_t {
#define FERRY_ENUM(name) name,
  FERRY_IR_INSTRUCTIONS(FERRY_ENUM)
#undef FERRY_ENUM
};
const char* instruction_name(Instruction instruction);

// The definition of an instruction, and its form on a target that has it: the instruction with arguments, which are
// addresses (ir/extern_call.h) and numbers over variables that the definition uses too. All other code considers only
// the definition. The pass select_instructions finds the arguments; until then there are none.
struct InstructionStmt : StmtNode {
  static constexpr StmtKind kKind = StmtKind::InstructionStmt;
  Instruction instruction;
  std::vector<Expr> arguments;
  Stmt definition;
  static Stmt make(Instruction instruction, std::vector<Expr> arguments, Stmt definition);
};

}  // namespace ferry::ir
