#include "crosscompile/passes/gpu/split_vthreads.h"

#include "tests/unit/crosscompile/passes/gpu/block.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

constexpr ForKind kVirtual = ForKind::vthread;

// Two sums over k for each thread, one for each virtual thread, through a fetch that both share.
Function sums(const Expr& virtual_threads) {
  Kernel kernel;
  const Expr n = kernel.size("n"), t = index("t"), v = index("v"), k = index("k");
  const BufferRef in = kernel.input("in", DType::i32, {n, 3}), out = kernel.output("out", DType::i32, {2, 3});
  const BufferRef sum = array("sum", DType::i32, {1}), fetched = array("fetched", DType::i32, {1});
  const Stmt step = block(
      {put(fetched, {0}, at(in, {k, t})), put(sum, {0}, at(sum, {0}) + at(fetched, {0}) * cast(DType::i32, v + 1))});
  const Stmt body =
      Allocate::make(sum, Allocate::make(fetched, block({put(sum, {0}, constant(DType::i32, std::int64_t{0})),
                                                         loop(k, n, step), put(out, {v, t}, at(sum, {0}))})));
  kernel.function.body = loop(t, 3, loop(v, virtual_threads, body, kVirtual), kThreads);
  return kernel.function;
}

}  // namespace

TEST_CASE("virtual threads go through a shared loop together, and each has sums of its own") {
  const Function before = sums(2), after = split_vthreads(before);
  check_same_on_odd_sizes(before, after);
  CHECK(stores(after.body, "sum") == Places{"t v", "t k v"});
  CHECK(stores(after.body, "fetched") == Places{"t k"});
  CHECK(census(after.body).unrolled == 3);
}

TEST_CASE("one virtual thread computes the same") {
  Kernel kernel;
  const Expr n = kernel.size("n"), t = index("t"), v = index("v");
  const BufferRef out = kernel.output("out", DType::i64, {n, 3});
  const Expr i = index("i");
  kernel.function.body = loop(i, n, loop(t, 3, loop(v, 1, put(out, {i, t + v}, i + t), kVirtual), kThreads), kBlocks);
  const Function after = split_vthreads(kernel.function);
  check_same_on_odd_sizes(kernel.function, after);
  CHECK(census(after.body).unrolled == 1);
}

TEST_CASE("a condition that all virtual threads share is tested once, another one by each") {
  const auto made = [](bool is_common) {
    Kernel kernel;
    const Expr n = kernel.size("n"), t = index("t"), v = index("v");
    const BufferRef out = kernel.output("out", DType::i64, {2, 4});
    const Stmt clear = put(out, {v, t}, Expr(0));
    const Stmt choose = If::make(is_common ? n > t : n > t + v, put(out, {v, t}, t + 1));
    kernel.function.body = loop(t, 4, loop(v, 2, block({clear, choose}), kVirtual), kThreads);
    const Function after = split_vthreads(kernel.function);
    check_same_on_odd_sizes(kernel.function, after);
    return after.body.as<For>()->body.as<Block>()->body.at(1);
  };
  CHECK(made(true).as<If>() != nullptr);
  CHECK(made(false).as<For>() != nullptr);
}

TEST_CASE("a number of virtual threads that is not constant is refused by the loop's name") {
  Kernel kernel;
  const Expr n = kernel.size("n"), v = index("v");
  const BufferRef out = kernel.output("out", DType::i64, {n});
  kernel.function.body = loop(v, n, put(out, {v}, v), kVirtual);
  CHECK(refusal([&] {
          split_vthreads(kernel.function);
        }).find("vthread: expected a constant number of virtual threads, got the loop 'v'") == 0);
}
