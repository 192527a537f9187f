#include "crosscompile/passes/lost_vectors.h"

#include "tests/unit/crosscompile/passes/standard_kernels.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

using Names = std::vector<std::string>;

// A vectorized loop "x" of four lanes; the store depends on the lane before when `chained`.
Function lanes(bool chained) {
  Kernel kernel;
  const Expr n = kernel.size("n"), i = index("i"), x = index("x");
  const BufferRef out = kernel.output("out", DType::i32, {n, 5}, Direction::inout);
  const Expr value = chained ? at(out, {i, x}) : cast(DType::i32, i);
  kernel.function.body = loop(i, n, loop(x, 4, put(out, {i, x + 1}, value + 1), kVectorized));
  return kernel.function;
}

Names lost_vectors(const Function& lowered, const Target& target) {
  LostVectors lost(lowered, target);
  lost.run_passes(lowered, target);
  return lost.names();
}

}  // namespace

TEST_CASE("loops that become vectors are not lost") {
  CHECK(lost_vectors(lanes(false), plain_target()).empty());
  CHECK(lost_vectors(vector_add(DType::f32, 8), plain_target()).empty());
  CHECK(lost_vectors(vector_add(DType::f32, 8), masked_target()).empty());
}

TEST_CASE("a loop whose lanes need each other's results is lost, by its name") {
  CHECK(lost_vectors(lanes(true), plain_target()) == Names{"x"});
}

TEST_CASE("a loop of one lane has nothing to lose") {
  Kernel kernel;
  const Expr n = kernel.size("n"), i = index("i"), x = index("x");
  const BufferRef out = kernel.output("out", DType::i32, {n, 2}, Direction::inout);
  kernel.function.body = loop(i, n, loop(x, 1, put(out, {i, x + 1}, at(out, {i, x})), kVectorized));
  CHECK(lost_vectors(kernel.function, plain_target()).empty());
}

TEST_CASE("targets that keep their loops, and functions without a body, lose nothing") {
  Target target = plain_target();
  target.pass_groups.loops = false;
  CHECK(lost_vectors(lanes(true), target).empty());
  CHECK(lost_vectors(Kernel().function, plain_target()).empty());
}
