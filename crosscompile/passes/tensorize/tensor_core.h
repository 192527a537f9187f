// The product that a warp's tensor cores compute, Instruction::mma_m16n8k16, mma.sync of CUDA (PTX ISA, "Matrix
// Fragments for mma.m16n8k16"), written as what each of its threads computes: for thread y * 4 + x of a warp, where
// threadIdx.x has x below 4 and threadIdx.y has y below 8,
//
//     for (mo, io < 2, no, ji < 2, k < 16)
//       C[mo, io, no, ji] += f32(A[mo * 16 + io * 8 + y, k]) * f32(B[k, no * 8 + x * 2 + ji])
//
// A and B, float16 or bfloat16, are in shared memory, and either of their indices may be the contiguous one; C is
// private to the thread. ldmatrix loads 8 x 8 matrices of them into registers, so that each thread gets
// elements that other threads of the warp have read. The sums may be added in any order.
#pragma once

#include "crosscompile/ir/stmt.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ferry::passes {

// Returns the instruction with that name that tensorize can put around a definition; nothing when there is none.
std::optional<ir::Instruction> find_instruction(std::string_view name);
std::vector<std::string> instruction_names();

// The decoded arguments of the instruction.
struct TensorCoreTile {
  std::int64_t rows = 1, columns = 1;  // number of pieces of 16 rows, and of 8 columns
  // Whether the pieces are transposed in memory compared to the registers: A by columns, B by rows.
  bool transpose_a = false, transpose_b = false;
  // The address of this thread's row for ldmatrix, for each 16 rows of A and each 16 columns of B (for the last 8 if
  // the number of pieces is odd).
  std::span<const ir::Expr> a, b;
  // Elements of C: for each 16 rows and each 8 columns, the two of io 0 and the two of io 1.
  std::span<const ir::Expr> sums;
};
TensorCoreTile tile_of(std::span<const ir::Expr> arguments);

// The variables of the loops over a warp's threads.
struct Warp {
  ir::Expr x, y;  // nothing: the block has no such axis, or its extent is not 4 or 8, respectively
};
// Returns the arguments with which the instruction computes the definition. Throws CompileError "expected X, got Y".
std::vector<ir::Expr> match_tensor_core(const ir::Stmt& definition, const Warp& warp);

}  // namespace ferry::passes
