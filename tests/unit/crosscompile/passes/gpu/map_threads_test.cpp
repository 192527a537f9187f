#include "crosscompile/passes/gpu/map_threads.h"
#include "crosscompile/ir/gpu_loops.h"

#include "tests/unit/crosscompile/passes/gpu/block.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

// out[i * 4 + j] = in[i * 4 + j] * 2, through an array in shared memory; each of the two stages has a loop of its own
// over the threads.
Function two_stages(const ForKind blocks, std::int64_t first_threads, const Expr& second_threads) {
  Kernel kernel;
  const Expr n = kernel.size("n"), i = index("i"), j = index("j"), k = index("k");
  const BufferRef in = kernel.input("in", DType::i32, {n, 4}), out = kernel.output("out", DType::i32, {n, 4});
  const BufferRef s = shared("S", {4});
  const Stmt body = block({loop(j, Expr(first_threads), put(s, {j}, at(in, {i, j})), kThreads),
                           loop(k, second_threads, put(out, {i, k}, at(s, {k}) * 2), kThreads)});
  kernel.function.body = loop(i, n, Allocate::make(s, body), blocks);
  return kernel.function;
}

}  // namespace

TEST_CASE("loops over blocks and threads become one nest around the kernel, with its shared memory in between") {
  const Function before = two_stages(kBlocks, 4, 4), after = map_threads(before);
  check_same_on_odd_sizes(before, after);
  const auto* blocks = after.body.as<For>();
  REQUIRE(blocks != nullptr);
  CHECK(blocks->for_kind == kBlocks);
  const auto* memory = blocks->body.as<Allocate>();
  REQUIRE(memory != nullptr);
  const auto* threads = memory->body.as<For>();
  REQUIRE(threads != nullptr);
  CHECK(threads->for_kind == kThreads);
  CHECK(census(after.body).loops == 2);
}

TEST_CASE("a store outside of every loop over an axis is left to the first thread of that axis") {
  Kernel kernel;
  const Expr n = kernel.size("n"), i = index("i"), j = index("j");
  const BufferRef out = kernel.output("out", DType::i32, {n, 4}), rows = kernel.output("rows", DType::i32, {n});
  kernel.function.body = loop(
      i, n, block({put(rows, {i}, cast(DType::i32, i)), loop(j, 4, put(out, {i, j}, cast(DType::i32, j)), kThreads)}),
      kBlocks);
  const Function after = map_threads(kernel.function);
  check_same_on_odd_sizes(kernel.function, after);
  CHECK(census(after.body).ifs == 1);
}

TEST_CASE("a loop over an axis starts where its range does") {
  Kernel kernel;
  const Expr n = kernel.size("n"), i = index("i"), j = index("j");
  const BufferRef out = kernel.output("out", DType::i64, {n + 3});
  kernel.function.body =
      block({loop(i, 3, put(out, {i}, Expr(0)), kBlocks), For::make(j, 3, n, kBlocks, put(out, {j}, j * 2))});
  const Function after = map_threads(kernel.function);
  check_same_on_odd_sizes(kernel.function, after);
  CHECK(stores(after.body, "out") == Places{"blockIdx.x", "blockIdx.x"});
}

TEST_CASE("two extents of one axis in a kernel are refused, and so is a number of threads that is not constant") {
  CHECK(refusal([] { map_threads(two_stages(kBlocks, 4, 8)); }) ==
        "threadIdx.x: expected one extent in a kernel, got 4 (the loop 'j') and 8 (the loop 'k')");
  Kernel kernel;
  const Expr n = kernel.size("n"), i = index("i");
  const BufferRef out = kernel.output("out", DType::i64, {n});
  kernel.function.body = loop(i, n, put(out, {i}, i), kThreads);
  CHECK(refusal([&] {
          map_threads(kernel.function);
        }).find("threadIdx.x: expected a constant number of threads, got the loop 'i'") == 0);
}

TEST_CASE("memory of a kind that its place does not allow is refused by name") {
  const auto refused = [](Scope scope, const Expr& extent) {
    Kernel kernel;
    const Expr n = kernel.size("n"), i = index("i"), j = index("j");
    const BufferRef out = kernel.output("out", DType::i64, {n, 4});
    const BufferRef s = array("S", DType::i64, {extent.defined() ? extent : n}, scope);
    kernel.function.body = loop(
        i, n, Allocate::make(s, loop(j, 4, block({put(s, {j}, j), put(out, {i, j}, at(s, {j}))}), kThreads)), kBlocks);
    return refusal([&] { map_threads(kernel.function); });
  };
  CHECK(refused(Scope::global, 4).find("'S' is computed inside of a kernel") == 0);
  CHECK(refused(Scope::shared, {}).find("'S': expected a constant size in shared memory") == 0);
  CHECK(refused(Scope::local, 4).find("'S' is computed by all threads together (threadIdx.x)") == 0);
  CHECK(refused(Scope::shared, 4) == "none");
}

TEST_CASE("a function without loops over blocks and threads stays as it is") {
  Kernel kernel;
  const Expr n = kernel.size("n"), i = index("i");
  const BufferRef out = kernel.output("out", DType::i64, {n});
  kernel.function.body = loop(i, n, put(out, {i}, i), kParallel);
  CHECK(!has_gpu_loops(kernel.function.body));
  CHECK(has_gpu_loops(two_stages(kBlocks, 4, 4).body));
  CHECK(map_threads(kernel.function).body.same_as(kernel.function.body));
}
