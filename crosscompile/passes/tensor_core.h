// The product that a warp's tensor cores compute, mma.sync m16n8k16 of CUDA (PTX ISA, "Matrix Fragments for
// mma.m16n8k16"), as what each of its threads computes: for thread y * 4 + x of a warp, with x of threadIdx.x below 4
// and y of threadIdx.y below 8,
//
//     for (mo, io < 2, no, ji < 2, k < 16)
//       C[mo, io, no, ji] += f32(A[mo * 16 + io * 8 + y, k]) * f32(B[k, no * 8 + x * 2 + ji])
//
// A and B, float16 or bfloat16, are in shared memory, either index the one that moves to the next element; C is the
// thread's own. Their pieces of 8 by 8 elements are fetched into registers by ldmatrix, so that each thread gets what
// other threads of the warp have read. The sums may be added in any order.
#pragma once

#include "crosscompile/ir/stmt.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ferry::passes {

inline constexpr const char* kTensorCore = "mma_m16n8k16";

// The names of all instructions that a definition can be said by.
std::vector<std::string> hardware_names();

// What the instruction's arguments say.
struct TensorCoreTile {
  std::int64_t rows = 1, columns = 1;  // how many pieces of 16 rows, and of 8 columns
  // Whether the pieces stand the other way round in memory than the registers want: A by columns, B by rows.
  bool turn_a = false, turn_b = false;
  // Where this thread's row of ldmatrix is: for each 16 rows of A and each 16 columns of B (for the last 8 if the
  // number of pieces is odd).
  std::span<const ir::Expr> a, b;
  // Elements of C: for each 16 rows, each 8 columns, the two of io 0 and the two of io 1.
  std::span<const ir::Expr> sums;
};
TensorCoreTile tile_of(std::span<const ir::Expr> arguments);

// The variables of the loops over a warp's threads.
struct Warp {
  ir::Expr x, y;  // nothing: the block has no such axis, or one of another extent than 4 and 8
};
// The arguments of the instruction that does what the definition says. CompileError "expected X, got Y".
std::vector<ir::Expr> match_tensor_core(const ir::Stmt& definition, const Warp& warp);

}  // namespace ferry::passes
