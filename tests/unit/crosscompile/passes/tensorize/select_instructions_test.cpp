#include "crosscompile/passes/tensorize/select_instructions.h"

#include "crosscompile/ir/async_copy.h"
#include "crosscompile/ir/barrier.h"
#include "crosscompile/ir/visitor.h"
#include "crosscompile/passes/tensorize/tensor_core.h"
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

// A warp's product of 16 x 16 and 16 x 8 elements as one instruction, under `around`; threadIdx.x has x_threads.
struct Product {
  Kernel kernel;
  Expr n = kernel.size("n"), x = index("x"), y = index("y");
  BufferRef a = kernel.input("a", DType::f16, {16, 16}), b = kernel.input("b", DType::f16, {16, 8});
  BufferRef out = kernel.output("out", DType::f32, {16, 8});

  Function made(const std::function<Stmt(Stmt)>& around, std::int64_t x_threads = 4, bool is_in_kernel = true) {
    const BufferRef sa = shared("sa", {16, 16}, DType::f16), sb = shared("sb", {16, 8}, DType::f16);
    const BufferRef sums = array("sums", DType::f32, {2, 2});
    const Expr io = index("io"), ji = index("ji"), k = index("k");
    const Stmt add =
        put(sums, {io, ji},
            at(sums, {io, ji}) + cast(DType::f32, at(sa, {io * 8 + y, k})) * cast(DType::f32, at(sb, {k, x * 2 + ji})));
    const Stmt definition = loop(io, 2, loop(ji, 2, loop(k, 16, add)));
    const Expr r = index("r"), c = index("c"), d = index("d"), i = index("i"), j = index("j"), p = index("p"),
               q = index("q");
    const Stmt fetch =
        block({loop(r, 2, loop(c, 4, put(sa, {r * 8 + y, x * 4 + c}, at(a, {r * 8 + y, x * 4 + c})))),
               loop(d, 4, put(sb, {y * 2 + d / 2, x * 2 + d % 2}, at(b, {y * 2 + d / 2, x * 2 + d % 2}))),
               make_commit_copies(), make_wait_copies(0), make_barrier()});
    const Stmt clear = loop(p, 2, loop(q, 2, put(sums, {p, q}, constant(DType::f32, 0.0))));
    const Stmt store = loop(i, 2, loop(j, 2, put(out, {i * 8 + y, x * 2 + j}, at(sums, {i, j}))));
    const Stmt body = Allocate::make(
        sums, block({fetch, clear, around(InstructionStmt::make(Instruction::mma_m16n8k16, {}, definition)), store}));
    const ForKind rows = is_in_kernel ? ForKind::thread_y : ForKind::serial;
    Stmt nest = loop(y, 8, loop(x, Expr(x_threads), body, is_in_kernel ? kThreads : ForKind::serial), rows);
    kernel.function.body = Allocate::make(sa, Allocate::make(sb, nest));
    return kernel.function;
  }
};

Stmt plain(Stmt stmt) { return stmt; }

class Instructions : public Visitor {
 public:
  std::vector<std::size_t> arguments;
  int orders = 0;

 protected:
  using Visitor::visit_node;
  void visit_node(const InstructionStmt& node) override { arguments.push_back(node.arguments.size()); }
  void visit_node(const Evaluate& node) override { orders += orders_copies(node) ? 1 : 0; }
};

Instructions instructions(const Function& function) {
  Instructions found;
  found.visit(function.body);
  return found;
}

}  // namespace

TEST_CASE("a definition that matches its instruction gets the instruction's arguments and stays what it computes") {
  Product product;
  const Function before = product.made(plain), after = select_instructions(before, cuda("sm_80"));
  const Instructions found = instructions(after);
  REQUIRE(found.arguments.size() == 1);
  CHECK(found.arguments[0] > 0);
  CHECK(found.orders == 2);
  check_same(before, after, {1});
}

TEST_CASE("a target without the instruction computes the definition, and copies synchronously") {
  for (const Target& target : {cuda("sm_75"), plain_target()}) {
    Product product;
    const Function before = product.made(plain), after = select_instructions(before, target);
    CHECK(instructions(after).arguments.empty());
    CHECK(instructions(after).orders == 0);
    check_same(before, after, {1});
  }
}

TEST_CASE("a condition or a loop that all threads share may enclose the instruction, one that differs may not") {
  const auto refused = [](const std::function<Stmt(Stmt, const Product&)>& around) {
    Product product;
    return refusal(
        [&] { select_instructions(product.made([&](Stmt stmt) { return around(stmt, product); }), cuda("sm_80")); });
  };
  CHECK(refused([](Stmt stmt, const Product& product) { return If::make(product.n > 0, stmt); }) == "none");
  CHECK(refused([](Stmt stmt, const Product& product) { return loop(index("m"), product.n, stmt); }) == "none");
  const std::string message =
      "tensorize mma_m16n8k16: expected all threads of a warp to come here, got a condition or a loop that differs "
      "from thread to thread";
  CHECK(refused([](Stmt stmt, const Product& product) { return If::make(product.x < 2, stmt); }) == message);
  CHECK(refused([](Stmt stmt, const Product& product) { return loop(index("m"), product.y, stmt); }) == message);
  CHECK(refused([](Stmt stmt, const Product& product) {
          const Expr far = Var::make("far");
          return LetStmt::make(far, product.x + product.n, If::make(far > 3, stmt));
        }) == message);
}

TEST_CASE("a block of another shape is refused") {
  Product product;
  CHECK(refusal([&] {
          select_instructions(product.made(plain, 3), cuda("sm_80"));
        }).find("tensorize mma_m16n8k16: expected 4 threads of a warp along threadIdx.x") == 0);
}

TEST_CASE("outside of kernels nothing is selected") {
  Product product;
  const Function before = product.made(plain, 4, false);
  CHECK(instructions(select_instructions(before, cuda("sm_80"))).arguments == std::vector<std::size_t>{0});
}
