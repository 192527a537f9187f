// Small loop programs for the tests of the passes: builds them, runs them, and compares a pass's output with its input.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/operators.h"
#include "ferry/target/target.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ferry::passes {

// Targets that differ in the properties that the passes examine.
Target plain_target();   // x86-64, 128-bit vectors, no masks, no float16
Target masked_target();  // 512-bit vectors with masks
Target target_with(std::string arch, std::vector<std::string> features);

// A function under construction.
struct Kernel {
  ir::Function function;

  Kernel();
  ir::Expr size(const std::string& name);
  ir::BufferRef input(const std::string& name, DType dtype, std::vector<ir::Expr> shape);
  ir::BufferRef output(const std::string& name, DType dtype, std::vector<ir::Expr> shape,
                       Direction direction = Direction::out);
};

ir::BufferRef array(const std::string& name, DType dtype, std::vector<ir::Expr> shape,
                    ir::Scope scope = ir::Scope::local);
ir::Expr index(const std::string& name);
ir::Expr at(const ir::BufferRef& buffer, std::vector<ir::Expr> indices);
ir::Stmt put(const ir::BufferRef& buffer, std::vector<ir::Expr> indices, ir::Expr value);
ir::Stmt loop(const ir::Expr& var, ir::Expr extent, ir::Stmt body, ir::ForKind kind = ir::ForKind::serial);
ir::Stmt block(std::vector<ir::Stmt> body);

inline constexpr ir::ForKind kVectorized = ir::ForKind::vectorized;
inline constexpr ir::ForKind kUnrolled = ir::ForKind::unrolled;
inline constexpr ir::ForKind kParallel = ir::ForKind::parallel;

// Sizes that exercise the tails of loops.
inline const std::vector<std::int64_t> kOddSizes{0, 1, 2, 3, 5, 7, 8, 9, 13, 17, 31, 33};

// Runs the function in the interpreter on small whole numbers (so that sums are exact in any order) and returns the
// contents of every tensor that may be written. Tensors with Direction::out initially contain 0xcd.
std::vector<std::vector<std::uint8_t>> run(const ir::Function& function, const std::vector<std::int64_t>& sizes);

// Runs both functions. The test fails with both texts if their results differ, or if the validator or the interpreter
// refuses the second one.
void check_same(const ir::Function& before, const ir::Function& after, const std::vector<std::int64_t>& sizes);
// Compares them for every combination of sizes from the list.
void check_same_on_odd_sizes(const ir::Function& before, const ir::Function& after);

// Numbers of nodes of various kinds in a statement, which a text search over the printed form cannot count.
struct Census {
  int ifs = 0, loops = 0, vectorized = 0, unrolled = 0, parallel = 0, allocations = 0, stores = 0, vector_stores = 0;
  int masked_stores = 0, masked_loads = 0, vector_loads = 0, vector_reductions = 0, choices = 0;
};
Census census(const ir::Stmt& stmt);

// Returns the innermost loops of a statement, in order.
std::vector<ir::Stmt> innermost_loops(const ir::Stmt& stmt);

// Compares with tests/golden/passes/NAME.txt; FERRY_UPDATE_GOLDEN=1 writes it.
void check_golden(const std::string& name, const ir::Function& function);

}  // namespace ferry::passes
