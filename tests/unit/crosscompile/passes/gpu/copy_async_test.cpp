#include "crosscompile/passes/gpu/copy_async.h"

#include "crosscompile/ir/async_copy.h"
#include "crosscompile/ir/barrier.h"
#include "crosscompile/ir/visitor.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "tests/unit/crosscompile/passes/gpu/block.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

Target cuda(const char* gpu) {
  Target target;
  target.set_arch("cuda");
  target.gpus = {gpu};
  target.capabilities = capabilities_of(target);
  return target;
}

// Each of 4 threads fetches `lanes` elements into shared memory, from `shift` on, and reads those of the next thread.
Function fetch(DType dtype, std::int64_t lanes, std::int64_t shift) {
  Kernel kernel;
  const std::int64_t size = 4 * lanes;
  const BufferRef in = kernel.input("in", dtype, {size + shift}), out = kernel.output("out", dtype, {size});
  auto filled = std::make_shared<Buffer>(*shared("S", {size}, dtype));
  filled->storage.filled_asynchronously = true;
  const BufferRef s = filled;
  const Expr t = index("t"), i = index("i"), j = index("j");
  const Expr to = t * Expr(lanes) + i;
  const Stmt body =
      block({loop(i, Expr(lanes), put(s, {to}, at(in, {to + Expr(shift)})), kVectorized), make_commit_copies(),
             make_wait_copies(0), make_barrier(),
             loop(j, Expr(lanes), put(out, {t * Expr(lanes) + j}, at(s, {(t + 1) % 4 * Expr(lanes) + j})))});
  kernel.function.body = of_threads(t, 4, {s}, body);
  return kernel.function;
}

class Copies : public Visitor {
 public:
  std::vector<std::int64_t> bytes;
  int orders = 0;

 protected:
  using Visitor::visit_node;
  void visit_node(const InstructionStmt& node) override {
    CHECK(node.instruction == Instruction::copy_async);
    bytes.push_back(*as_int(node.arguments.at(2)));
  }
  void visit_node(const Evaluate& node) override { orders += orders_copies(node) ? 1 : 0; }
};

Copies copies(const Function& function) {
  Copies found;
  found.visit(function.body);
  return found;
}

using Bytes = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("a vector that is aligned on both sides becomes one copy") {
  for (const auto& [dtype, lanes] : {std::pair(DType::f32, 4), {DType::f32, 2}, {DType::f16, 8}, {DType::i8, 4}}) {
    const Function before = fetch(dtype, lanes, 0), after = copy_async(before, cuda("sm_80"));
    CHECK(copies(after).bytes == Bytes{static_cast<std::int64_t>(dtype_bytes(dtype)) * lanes});
    CHECK(copies(after).orders == 2);
    check_same(before, after, {});
  }
}

TEST_CASE("elements that are not aligned are copied one by one, if they are large enough") {
  const Function before = fetch(DType::f32, 4, 1), after = copy_async(before, cuda("sm_80"));
  CHECK(copies(after).bytes == Bytes{4});
  CHECK(census(after.body).unrolled == 1);
  CHECK(census(after.body).vectorized == 0);
  check_same(before, after, {});
}

TEST_CASE("where no store becomes a copy nothing is waited for") {
  for (const Function& before : {fetch(DType::i8, 3, 1), fetch(DType::i16, 1, 0)}) {
    const Function after = copy_async(before, cuda("sm_80"));
    CHECK(copies(after).bytes.empty());
    CHECK(copies(after).orders == 0);
    check_same(before, after, {});
  }
}

TEST_CASE("targets without such copies store at once") {
  for (const Target& target : {cuda("sm_75"), plain_target()}) {
    const Function before = fetch(DType::f32, 4, 0), after = copy_async(before, target);
    CHECK(copies(after).bytes.empty());
    CHECK(copies(after).orders == 0);
    check_same(before, after, {});
  }
}

TEST_CASE("an array that is not fetched ahead is stored at once") {
  Kernel kernel;
  const BufferRef in = kernel.input("in", DType::f32, {16}), out = kernel.output("out", DType::f32, {16});
  const BufferRef s = shared("S", {16}, DType::f32);
  const Expr t = index("t"), i = index("i");
  const Expr x = t * 4 + i;
  kernel.function.body = of_threads(
      t, 4, {s}, block({loop(i, 4, put(s, {x}, at(in, {x})), kVectorized), put(out, {t * 4}, at(s, {t * 4}))}));
  CHECK(copies(copy_async(kernel.function, cuda("sm_90"))).bytes.empty());
}
