#include "crosscompile/passes/gpu/reduce_threads.h"

#include "crosscompile/ir/shuffle.h"
#include "crosscompile/ir/visitor.h"
#include "crosscompile/passes/gpu/insert_barriers.h"
#include "tests/support/without_barrier.h"
#include "tests/unit/crosscompile/passes/gpu/block.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

using Combine = std::function<Expr(const Expr&, const Expr&)>;

Target gpu(const char* arch) {
  Target target;
  target.set_arch(arch);
  target.capabilities = capabilities_of(target);
  return target;
}

// out[i, t] = in[i, 0] o in[i, 1] o ... over all threads, as combining loops or, as `plain`, as serial ones that read
// the input.
Function reduction(std::int64_t threads, const Combine& combine, bool plain) {
  Kernel kernel;
  const Expr n = kernel.size("n"), i = index("i"), t = index("t"), k = index("k");
  const BufferRef in = kernel.input("in", DType::i32, {n, threads}),
                  out = kernel.output("out", DType::i32, {n, threads});
  const BufferRef parts = shared("parts", {threads}), total = array("total", DType::i32, {});
  const Expr start = constant(DType::i32, std::int64_t{1});
  const Stmt sum =
      loop(k, Expr(threads), put(total, {}, combine(at(total, {}), plain ? at(in, {i, k}) : at(parts, {k}))),
           plain ? ForKind::serial : ForKind::combine);
  std::vector<Stmt> steps{put(total, {}, start), sum, put(out, {i, t}, at(total, {}))};
  if (!plain) steps.insert(steps.begin(), put(parts, {t}, at(in, {i, t})));
  const Stmt thread = loop(t, Expr(threads), Allocate::make(total, block(std::move(steps))), kThreads);
  kernel.function.body = loop(i, n, plain ? thread : Allocate::make(parts, thread), kBlocks);
  return kernel.function;
}

class Contents : public Visitor {
 public:
  int shuffles = 0, shared = 0, combines = 0;

 protected:
  using Visitor::visit_node;
  void visit_node(const Store& node) override {
    shuffles += shuffle_of(node) != nullptr ? 1 : 0;
    Visitor::visit_node(node);
  }
  void visit_node(const Allocate& node) override {
    shared += node.buffer->scope == Scope::shared ? 1 : 0;
    Visitor::visit_node(node);
  }
  void visit_node(const For& node) override {
    combines += node.for_kind == ForKind::combine ? 1 : 0;
    Visitor::visit_node(node);
  }
};

Contents contents(const Function& function) {
  Contents found;
  found.visit(function.body);
  return found;
}

const Combine kSum = [](const Expr& a, const Expr& b) { return a + b; };
const Combine kMax = [](const Expr& a, const Expr& b) { return max(a, b); };

}  // namespace

TEST_CASE("the threads of a block combine any number of parts, by shuffles or as a tree") {
  for (const std::int64_t threads : {1, 2, 3, 7, 8, 13, 31, 32, 33, 64, 96})
    for (const Combine& combine : {kSum, kMax})
      for (const char* arch : {"cuda", "opencl"}) {
        const Function after = insert_barriers(reduce_threads(reduction(threads, combine, false), gpu(arch)));
        CAPTURE(threads);
        CHECK(contents(after).combines == 0);
        for (const std::int64_t size : {0, 1, 3}) check_same(reduction(threads, combine, true), after, {size});
      }
}

TEST_CASE("a warp needs neither shared memory nor barriers where it can shuffle") {
  const Function shuffled = insert_barriers(reduce_threads(reduction(32, kSum, false), gpu("cuda")));
  CHECK(contents(shuffled).shuffles > 0);
  CHECK(contents(shuffled).shared == 0);
  CHECK(test::count_barriers(shuffled) == 0);
  const Function tree = insert_barriers(reduce_threads(reduction(32, kSum, false), gpu("opencl")));
  CHECK(contents(tree).shuffles == 0);
  CHECK(contents(tree).shared == 1);
  CHECK(test::count_barriers(tree) > 0);
}

TEST_CASE("a number of threads that does not fill its warps evenly is combined in shared memory") {
  const Function after = reduce_threads(reduction(24, kSum, false), gpu("cuda"));
  CHECK(contents(after).shared == 1);
}

TEST_CASE("without its barriers a reduction has races") {
  const Function whole = insert_barriers(reduce_threads(reduction(64, kSum, false), gpu("cuda")));
  REQUIRE(test::count_barriers(whole) == 1);
  CHECK(complaint(whole, {2}) == "none");
  CHECK(complaint(test::without_barrier(whole, 0), {2}) != "none");
}

TEST_CASE("kernels without combining loops stay as they are") {
  const Function plain = reduction(8, kSum, true);
  CHECK(reduce_threads(plain, gpu("cuda")).body.same_as(plain.body));
}

TEST_CASE("a reducer that leaves out a component of its tuple is refused") {
  Kernel kernel;
  const Expr t = index("t"), k = index("k");
  const BufferRef out = kernel.output("out", DType::i32, {4});
  const BufferRef parts = shared("parts", {4});
  auto second = std::make_shared<Buffer>(*array("second", DType::i32, {}));
  second->component = 1;
  const BufferRef total = second;
  const Stmt combine = loop(k, 4, put(total, {}, at(total, {}) + at(parts, {k})), ForKind::combine);
  kernel.function.body = of_threads(
      t, 4, {parts},
      Allocate::make(total, block({put(parts, {t}, cast(DType::i32, t)), combine, put(out, {t}, at(total, {}))})));
  CHECK(refusal([&] { reduce_threads(kernel.function, gpu("cuda")); }).find("got one that leaves some out") !=
        std::string::npos);
}
