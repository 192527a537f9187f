#include "crosscompile/passes/memory/plan_workspace.h"

#include "tests/unit/crosscompile/passes/standard_kernels.h"

#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/visitor.h"
#include "crosscompile/passes/simplify/simplify.h"

#include <doctest/doctest.h>

#include <map>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

class Places : public Visitor {
 public:
  std::map<std::string, const Allocate*> found;

 protected:
  using Visitor::visit_node;
  void visit_node(const Allocate& node) override {
    found[node.buffer->name] = &node;
    Visitor::visit_node(node);
  }
};

std::map<std::string, const Allocate*> places(const Function& function) {
  Places finder;
  finder.visit(function.body);
  return finder.found;
}

// out = stage(stage(... a)), with one global buffer for each stage.
Function chain(std::vector<BufferRef> buffers, const Expr& n, Kernel& kernel) {
  const BufferRef a = kernel.input("a", DType::f32, {n}), out = kernel.output("out", DType::f32, {n});
  std::vector<Stmt> stages;
  BufferRef from = a;
  std::vector<BufferRef> to = buffers;
  to.push_back(out);
  for (const BufferRef& next : to) {
    const Expr i = index("i");
    stages.push_back(loop(i, n, put(next, {i}, at(from, {n - 1 - i}) + at(from, {i}))));
    from = next;
  }
  Stmt body = block(stages);
  for (const BufferRef& buffer : buffers) body = Allocate::make(buffer, body);
  kernel.function.body = body;
  return kernel.function;
}

}  // namespace

TEST_CASE("a chain of stages of constant size takes the room of two") {
  Kernel kernel;
  const Expr n = 20;
  std::vector<BufferRef> buffers;
  for (const char* name : {"b0", "b1", "b2", "b3"}) buffers.push_back(array(name, DType::f32, {n}, Scope::global));
  const Function before = chain(buffers, n, kernel);
  const Function after = plan_workspace(before);
  check_same(before, after, {});
  CHECK(is_constant(after.call_workspace, 256));
  CHECK(!after.thread_workspace.defined());
  const auto place = places(after);
  CHECK(is_constant(place.at("b0")->offset, *as_int(place.at("b2")->offset)));
  CHECK(is_constant(place.at("b1")->offset, *as_int(place.at("b3")->offset)));
}

TEST_CASE("a chain of stages of symbolic size takes the room of two") {
  Kernel kernel;
  const Expr n = kernel.size("n");
  std::vector<BufferRef> buffers;
  for (const char* name : {"b0", "b1", "b2"}) buffers.push_back(array(name, DType::f32, {n}, Scope::global));
  const Function before = chain(buffers, n, kernel);
  const Function after = plan_workspace(before);
  check_same_on_odd_sizes(before, after);
  const auto place = places(after);
  CHECK(equal(place.at("b0")->offset, place.at("b2")->offset));
  CHECK(!equal(place.at("b0")->offset, place.at("b1")->offset));
}

TEST_CASE("a shared place is as large as the largest buffer in it") {
  for (const auto& [first, last] : {std::pair{1, 3}, {3, 1}}) {
    Kernel kernel;
    const Expr n = kernel.size("n");
    const std::vector<BufferRef> buffers = {array("b0", DType::f32, {n * first}, Scope::global),
                                            array("b1", DType::f32, {n}, Scope::global),
                                            array("b2", DType::f32, {n * last}, Scope::global)};
    const Function after = plan_workspace(chain(buffers, n, kernel));
    const auto place = places(after);
    CHECK(equal(place.at("b0")->offset, place.at("b2")->offset));
    // Buffers of 1200 and 400 bytes, rounded up to whole lines of 64 bytes.
    CHECK(is_constant(simplify(substitute(after.call_workspace, {{n.get(), Expr(100)}})), 1216 + 448));
  }
}

TEST_CASE("buffers of constant and of symbolic size share the workspace side by side") {
  Kernel kernel;
  const Expr n = kernel.size("n");
  const BufferRef small = array("small", DType::i8, {3}, Scope::global),
                  large = array("large", DType::f64, {n, n}, Scope::global),
                  out = kernel.output("out", DType::f64, {n, n});
  const Expr i = index("i"), j = index("j"), k = index("k"), p = index("p"), q = index("q");
  kernel.function.body = Allocate::make(
      small,
      Allocate::make(
          large, block({
                     loop(k, 3, put(small, {k}, cast(DType::i8, k))),
                     loop(i, n, loop(j, n, put(large, {i, j}, cast(DType::f64, at(small, {2}) + cast(DType::i8, i))))),
                     loop(p, n, loop(q, n, put(out, {p, q}, at(large, {q, p})))),
                 })));
  const Function after = plan_workspace(kernel.function);
  check_same_on_odd_sizes(kernel.function, after);
  CHECK(is_constant(places(after).at("small")->offset, 0));
  CHECK(is_constant(places(after).at("large")->offset, 64));
}

TEST_CASE("a buffer inside a parallel loop lies in the thread's workspace, at its size over all iterations") {
  Kernel kernel;
  const Expr n = kernel.size("n");
  const BufferRef a = kernel.input("a", DType::i32, {n}), out = kernel.output("out", DType::i32, {n});
  const Expr y = index("y"), i = index("i"), j = index("j"), total = index("t");
  const BufferRef row = array("row", DType::i32, {y + 1}, Scope::global);
  kernel.function.body =
      loop(y, n,
           Allocate::make(
               row, block({loop(i, y + 1, put(row, {i}, at(a, {i}))), put(out, {y}, at(row, {y}) + at(row, {0}))})),
           kParallel);
  const Function after = plan_workspace(kernel.function);
  check_same_on_odd_sizes(kernel.function, after);
  CHECK(!after.call_workspace.defined());
  REQUIRE(after.thread_workspace.defined());
  CHECK(places(after).at("row")->workspace == ir::WorkspaceKind::thread);
}

TEST_CASE("a buffer that a loop carries from one iteration to the next keeps its room for the whole loop") {
  Kernel kernel;
  const Expr n = kernel.size("n");
  const BufferRef a = kernel.input("a", DType::i32, {n}), out = kernel.output("out", DType::i32, {n});
  const BufferRef carried = array("carried", DType::i32, {1}, Scope::global),
                  scratch = array("scratch", DType::i32, {1}, Scope::global);
  const Expr i = index("i");
  kernel.function.body = Allocate::make(
      carried,
      block({put(carried, {0}, constant(Type(DType::i32), std::int64_t{0})),
             loop(i, n,
                  block({put(out, {i}, at(carried, {0}) + at(a, {i})), put(carried, {0}, at(out, {i})),
                         Allocate::make(scratch, block({put(scratch, {0}, at(a, {i})),
                                                        put(out, {i}, at(out, {i}) + at(scratch, {0}))}))}))}));
  const Function after = plan_workspace(kernel.function);
  check_same_on_odd_sizes(kernel.function, after);
  CHECK(is_constant(after.call_workspace, 128));
}

TEST_CASE("room is kept from the first iteration on, not from the first statement that needs it") {
  Kernel kernel;
  const Expr n = kernel.size("n");
  const BufferRef a = kernel.input("a", DType::i32, {n}), out = kernel.output("out", DType::i32, {n});
  const BufferRef carried = array("carried", DType::i32, {1}, Scope::global),
                  scratch = array("scratch", DType::i32, {1}, Scope::global);
  const Expr i = index("i");
  const Stmt through_scratch =
      Allocate::make(scratch, block({put(scratch, {0}, at(a, {i})), put(out, {i}, at(scratch, {0}))}));
  const Stmt from_last_time = If::make(i > 0, put(out, {i}, at(out, {i}) + at(carried, {0})));
  kernel.function.body =
      Allocate::make(carried, loop(i, n, block({through_scratch, from_last_time, put(carried, {0}, at(out, {i}))})));
  check_same_on_odd_sizes(kernel.function, plan_workspace(kernel.function));
}

TEST_CASE("a local buffer that the stack cannot hold moves to the workspace") {
  Kernel kernel;
  const BufferRef out = kernel.output("out", DType::f32, {1});
  const BufferRef big = array("big", DType::f32, {kMaxStackBytes / 4 + 1}),
                  small = array("small", DType::f32, {kMaxStackBytes / 4});
  kernel.function.body =
      Allocate::make(big, Allocate::make(small, block({put(big, {7}, constant(Type(DType::f32), 3.0)),
                                                       put(small, {0}, at(big, {7})), put(out, {0}, at(small, {0}))})));
  const Function after = plan_workspace(kernel.function);
  check_same(kernel.function, after, {});
  CHECK(places(after).at("big")->buffer->scope == Scope::global);
  CHECK(places(after).at("small")->buffer->scope == Scope::local);
  CHECK(!places(after).at("small")->offset.defined());
}

TEST_CASE("sizes that come out negative take no room") {
  Kernel kernel;
  const Expr n = kernel.size("n");
  const BufferRef out = kernel.output("out", DType::f32, {n});
  const BufferRef shrunk = array("shrunk", DType::f32, {n - 3, n - 3}, Scope::global),
                  after_it = array("after_it", DType::f32, {n}, Scope::global);
  const Expr i = index("i"), j = index("j"), k = index("k"), p = index("p");
  const Expr one = constant(Type(DType::f32), 1.0);
  kernel.function.body = Allocate::make(
      shrunk,
      Allocate::make(
          after_it, block({
                        loop(i, n - 3, loop(j, n - 3, put(shrunk, {i, j}, one))),
                        loop(k, n, put(after_it, {k}, one + one)),
                        loop(p, n, put(out, {p}, at(after_it, {p}) + if_then_else(p < n - 3, at(shrunk, {p, p}), one))),
                    })));
  check_same_on_odd_sizes(kernel.function, plan_workspace(kernel.function));
}
