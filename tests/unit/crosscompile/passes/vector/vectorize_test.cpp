#include "crosscompile/passes/vector/vectorize.h"

#include "tests/unit/crosscompile/passes/kernel.h"

#include "crosscompile/ir/printer.h"
#include "crosscompile/ir/visitor.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

Expr number(std::int64_t value) { return constant(Type(DType::i32), value); }

// A kernel in[n, lanes] -> out[n, lanes] with `body(y, x)` in a vectorized loop over x.
struct Rows : Kernel {
  Expr n = size("n");
  Expr lanes;
  BufferRef in, out;
  Expr y = index("y"), x = index("x");

  explicit Rows(std::int64_t width)
      : lanes(width), in(input("in", DType::i32, {n, lanes})), out(output("out", DType::i32, {n, lanes})) {}

  Function over(Stmt body) {
    function.body = loop(y, n, loop(x, lanes, std::move(body), kVectorized));
    return function;
  }
};

// Checks the results for both targets and returns the body for the plain one.
Stmt vectorized(const Function& before) {
  const Function masked = vectorize(before, masked_target());
  check_same_on_odd_sizes(before, masked);
  CHECK(census(masked.body).vectorized == 0);
  const Function plain = vectorize(before, plain_target());
  check_same_on_odd_sizes(before, plain);
  CHECK(census(plain.body).vectorized == 0);
  return plain.body;
}

class LanesSeen : public Visitor {
 public:
  std::vector<std::uint32_t> stores;

 protected:
  using Visitor::visit_node;
  void visit_node(const Store& node) override { stores.push_back(node.value.type().lanes); }
};

std::vector<std::uint32_t> lanes_of_stores(const Stmt& stmt) {
  LanesSeen seen;
  seen.visit(stmt);
  return seen.stores;
}

}  // namespace

TEST_CASE("any constant number of lanes becomes vectors") {
  for (const std::int64_t width : {1, 2, 3, 5, 7, 8, 16, 31, 64}) {
    CAPTURE(width);
    Rows rows(width);
    const Stmt body = vectorized(rows.over(put(rows.out, {rows.y, rows.x}, at(rows.in, {rows.y, rows.x}) * number(3))));
    CHECK(lanes_of_stores(body) == std::vector<std::uint32_t>{static_cast<std::uint32_t>(width)});
  }
}

TEST_CASE("more lanes than the registers hold are cut into vectors that fit") {
  Rows rows(150);
  const Stmt body = vectorized(rows.over(put(rows.out, {rows.y, rows.x}, at(rows.in, {rows.y, rows.x}))));
  CHECK(lanes_of_stores(body) == std::vector<std::uint32_t>{64, 22});
}

TEST_CASE("no lane of a wide loop is lost, however few are left") {
  for (const std::int64_t width : {65, 66, 128, 129, 257}) {
    CAPTURE(width);
    Rows rows(width);
    vectorized(rows.over(put(rows.out, {rows.y, rows.x}, at(rows.in, {rows.y, rows.x}))));
  }
}

TEST_CASE("no lanes are nothing") {
  Rows rows(0);
  CHECK(!vectorize(rows.over(put(rows.out, {rows.y, rows.x}, number(1))), plain_target()).body.defined());
}

TEST_CASE("what does not depend on the lane stays scalar until a vector needs it") {
  Rows rows(8);
  const Stmt body = vectorized(
      rows.over(put(rows.out, {rows.y, rows.x}, at(rows.in, {rows.y, 3}) * number(2) + at(rows.in, {rows.y, rows.x}))));
  CHECK(census(body).vector_loads == 1);
}

TEST_CASE("indices that are affine in the lane become ramps, through lets as well") {
  Rows rows(4);
  const Expr t = Var::make("t");
  const Stmt body = vectorized(rows.over(
      LetStmt::make(t, 3 - rows.x, put(rows.out, {rows.y, t}, at(rows.in, {rows.y, t}) + cast(DType::i32, t)))));
  const std::string text = to_text(body);
  CHECK_MESSAGE(text.find("ramp(") != std::string::npos, text);
  CHECK(census(body).vector_stores == 1);
}

TEST_CASE("a let of another value in each lane becomes a vector variable") {
  Rows rows(5);
  const Expr t = Var::make("t", DType::i32), u = Var::make("u", DType::i32);
  const Expr square = Let::make(u, t + number(1), u * u);
  const Stmt body = vectorized(
      rows.over(LetStmt::make(t, at(rows.in, {rows.y, rows.x}), put(rows.out, {rows.y, rows.x}, t * t + square))));
  CHECK(census(body).vector_loads == 1);
}

TEST_CASE("a buffer allocated inside gets a dimension of lanes") {
  Rows rows(6);
  const BufferRef own = array("own", DType::i32, {2}), point = array("point", DType::i32, {});
  const Expr k = index("k");
  const Stmt body = vectorized(rows.over(Allocate::make(
      own, Allocate::make(point, block({put(own, {0}, at(rows.in, {rows.y, rows.x})), put(own, {1}, number(0)),
                                        put(point, {}, number(2)),
                                        loop(k, rows.y, put(own, {1}, at(own, {1}) + at(own, {0}) * at(point, {}))),
                                        put(rows.out, {rows.y, rows.x}, at(own, {1}))})))));
  CHECK(census(body).vector_stores == 5);
  CHECK(census(body).loops == 2);
}

TEST_CASE(
    "a condition of its own for each lane masks stores where the target has masks, and runs the lanes in turn where "
    "not") {
  Rows rows(8);
  const Function before =
      rows.over(block({put(rows.out, {rows.y, rows.x}, number(5)),
                       If::make(cast(DType::i64, at(rows.in, {rows.y, rows.x})) < rows.x - 2,
                                put(rows.out, {rows.y, rows.x}, at(rows.in, {rows.y, rows.x}) + number(1)),
                                put(rows.out, {rows.y, rows.x}, number(-9)))}));
  const Stmt plain = vectorized(before);
  CHECK(census(plain).masked_stores == 0);
  CHECK(census(plain).vector_stores == 1);
  CHECK(census(plain).loops == 2);
  const Stmt masked = vectorize(before, masked_target()).body;
  CHECK(census(masked).masked_stores == 2);
  CHECK(census(masked).loops == 1);
}

TEST_CASE("a masked store to a local array is made on every target") {
  Rows rows(8);
  const BufferRef kept = array("kept", DType::i32, {8});
  const Expr x0 = index("x"), x1 = index("x"), x2 = index("x"), k = index("k");
  rows.function.body = loop(
      rows.y, rows.n,
      Allocate::make(
          kept, block({loop(x0, 8, put(kept, {x0}, number(0)), kVectorized),
                       loop(k, 3,
                            loop(x1, 8,
                                 If::make(x1 + k < rows.y, put(kept, {x1}, at(kept, {x1}) + at(rows.in, {rows.y, x1}))),
                                 kVectorized)),
                       loop(x2, 8, put(rows.out, {rows.y, x2}, at(kept, {x2})), kVectorized)})));
  const Stmt body = vectorized(rows.function);
  CHECK(census(body).masked_stores == 1);
  CHECK(census(body).loops == 2);
}

TEST_CASE("the part of a condition that all lanes share is tested once") {
  Rows rows(8);
  const Function before =
      rows.over(block({put(rows.out, {rows.y, rows.x}, number(0)),
                       If::make(rows.x < rows.y && rows.y > 4, put(rows.out, {rows.y, rows.x}, number(1)))}));
  vectorized(before);
  const Stmt masked = vectorize(before, masked_target()).body;
  CHECK(census(masked).ifs == 1);
  CHECK(census(masked).masked_stores == 1);
}

TEST_CASE("a guarded load happens only in the lanes whose condition holds") {
  Rows rows(8);
  // Row y - 1 and column x + 1 do not always exist.
  const Expr value = if_then_else(rows.y >= 1 && rows.x + 1 < 8, at(rows.in, {rows.y - 1, rows.x + 1}), number(7));
  const Stmt body = vectorized(rows.over(put(rows.out, {rows.y, rows.x}, value)));
  CHECK(census(body).masked_loads == 1);
}

TEST_CASE("a guarded scalar load does not happen when no lane wants it") {
  Rows rows(4);
  // in[y + 1] does not exist in the last row.
  const Expr value = if_then_else(rows.y + 1 + rows.x < rows.n, at(rows.in, {rows.y + 1, 0}), number(7));
  vectorized(rows.over(put(rows.out, {rows.y, rows.x}, value)));
}

TEST_CASE("nested conditions mask together") {
  Rows rows(8);
  const Expr k = index("k");
  const Expr value =
      if_then_else(rows.x > 2, if_then_else(rows.x + rows.y < 9, at(rows.in, {0, rows.x}), number(1)), number(2));
  vectorized(rows.over(
      block({put(rows.out, {rows.y, rows.x}, value),
             If::make(rows.x > 1,
                      If::make(rows.x < rows.y,
                               loop(k, 2, put(rows.out, {rows.y, rows.x}, at(rows.out, {rows.y, rows.x}) + value)),
                               put(rows.out, {rows.y, rows.x}, number(3))))})));
}

TEST_CASE("an element that all lanes share is reduced across the lanes") {
  struct Kind {
    const char* name;
    std::function<Expr(const Expr&, const Expr&)> combine;
    std::int64_t start;
  };
  const std::vector<Kind> kinds{
      {"sum", [](const Expr& a, const Expr& b) { return a + b; }, 0},
      {"sum, the other way round", [](const Expr& a, const Expr& b) { return b + a; }, 3},
      {"product", [](const Expr& a, const Expr& b) { return a * b; }, 1},
      {"minimum", [](const Expr& a, const Expr& b) { return min(a, b); }, 100},
      {"maximum", [](const Expr& a, const Expr& b) { return max(a, b); }, -100},
  };
  for (const Kind& kind : kinds) {
    CAPTURE(kind.name);
    Kernel kernel;
    const Expr n = kernel.size("n"), y = index("y"), x = index("x");
    const BufferRef in = kernel.input("in", DType::i32, {n, 7}), out = kernel.output("out", DType::i32, {n});
    const auto program = [&](Stmt update) {
      kernel.function.body =
          loop(y, n, block({put(out, {y}, number(kind.start)), loop(x, 7, std::move(update), kVectorized)}));
      return kernel.function;
    };
    const Stmt update = put(out, {y}, kind.combine(at(out, {y}), at(in, {y, x})));
    CHECK(census(vectorized(program(update))).vector_reductions == 1);
    // Inactive lanes contribute nothing.
    CHECK(census(vectorized(program(If::make(x % 3 == 1 || x < y, update)))).loops == 1);
  }
}

TEST_CASE("any and all are reduced across the lanes") {
  for (const bool any : {true, false}) {
    Kernel kernel;
    const Expr n = kernel.size("n"), y = index("y"), x = index("x");
    const BufferRef in = kernel.input("in", DType::i32, {n, 3}), out = kernel.output("out", DType::boolean, {n});
    const Expr test = at(in, {y, x}) > number(2), so_far = at(out, {y});
    kernel.function.body = loop(y, n,
                                block({put(out, {y}, constant(kBool, std::int64_t{any ? 0 : 1})),
                                       loop(x, 3, put(out, {y}, any ? so_far || test : so_far && test), kVectorized)}));
    CHECK(census(vectorized(kernel.function)).vector_reductions == 1);
  }
}

TEST_CASE("iterations that need each other's results stay in order") {
  Rows rows(8);
  SUBCASE("a running sum") {
    const Expr before = if_then_else(rows.x > 0, at(rows.out, {rows.y, rows.x - 1}), number(0));
    const Stmt body = vectorized(rows.over(put(rows.out, {rows.y, rows.x}, before + at(rows.in, {rows.y, rows.x}))));
    CHECK(census(body).vector_stores == 0);
  }
  SUBCASE("a temporary that all iterations share") {
    const BufferRef shared = array("shared", DType::i32, {1});
    rows.function.body = loop(rows.y, rows.n,
                              Allocate::make(shared, loop(rows.x, 8,
                                                          block({put(shared, {0}, at(rows.in, {rows.y, rows.x})),
                                                                 put(rows.out, {rows.y, rows.x}, at(shared, {0}))}),
                                                          kVectorized)));
    CHECK(census(vectorized(rows.function)).vector_stores == 0);
  }
  SUBCASE("two reductions of different kinds into one element") {
    const BufferRef total = array("total", DType::i32, {});
    rows.function.body =
        loop(rows.y, rows.n,
             Allocate::make(total, block({put(total, {}, number(1)),
                                          loop(rows.x, 8,
                                               block({put(total, {}, at(total, {}) + at(rows.in, {rows.y, rows.x})),
                                                      put(total, {}, at(total, {}) * number(2))}),
                                               kVectorized),
                                          loop(index("z"), 8, put(rows.out, {rows.y, 0}, at(total, {})))})));
    const Function before = rows.function;
    check_same(before, vectorize(before, plain_target()), {5});
    CHECK(census(vectorize(before, plain_target()).body).vector_reductions == 0);
  }
  SUBCASE("a scatter whose lanes meet") {
    const Expr k = index("k");
    Kernel kernel;
    const Expr n = kernel.size("n"), x = index("x");
    const BufferRef in = kernel.input("in", DType::i32, {n, 4}),
                    out = kernel.output("out", DType::i32, {n + 4}, Direction::inout);
    kernel.function.body = loop(
        k, n,
        loop(x, 4, loop(index("z"), 1, put(out, {x / 2 + k}, at(out, {x / 2 + k}) + at(in, {k, x}))), kVectorized));
    CHECK(census(vectorized(kernel.function)).vector_stores == 0);
  }
}

TEST_CASE("interleaved elements of one iteration do not keep it from becoming a vector") {
  Kernel kernel;
  const Expr n = kernel.size("n"), y = index("y"), x = index("x"), k = index("k");
  const BufferRef in = kernel.input("in", DType::i32, {n, 8}), out = kernel.output("out", DType::i32, {n, 8});
  kernel.function.body =
      loop(y, n,
           loop(x, 4,
                block({put(out, {y, x * 2}, at(in, {y, x})), put(out, {y, x * 2 + 1}, at(in, {y, x + 4})),
                       loop(k, 2, put(out, {y, x * 2 + k}, at(out, {y, x * 2 + k}) + number(1)))}),
                kVectorized));
  CHECK(census(vectorized(kernel.function)).vector_stores == 3);
}

TEST_CASE("a loop of another length in each lane runs the lanes in turn, the statements around it stay vectors") {
  Rows rows(6);
  const Expr k = index("k");
  const BufferRef own = array("own", DType::i32, {});
  const Stmt body = vectorized(rows.over(Allocate::make(
      own, block({put(own, {}, number(1)), loop(k, rows.x, put(own, {}, at(own, {}) + at(rows.in, {rows.y, k}))),
                  put(rows.out, {rows.y, rows.x}, at(own, {}))}))));
  CHECK(census(body).vector_stores == 2);
  CHECK(census(body).loops == 3);
}

TEST_CASE("of two nested vectorized loops the inner one becomes vectors") {
  Rows rows(4);
  const Expr z = index("z");
  Kernel kernel;
  const Expr n = kernel.size("n"), y = index("y"), x = index("x");
  const BufferRef in = kernel.input("in", DType::i32, {n, 3, 4}), out = kernel.output("out", DType::i32, {n, 3, 4});
  kernel.function.body = loop(
      y, n,
      loop(z, 3, loop(x, 4, put(out, {y, z, x}, at(in, {y, z, x}) + cast(DType::i32, z)), kVectorized), kVectorized));
  const Stmt body = vectorized(kernel.function);
  CHECK(lanes_of_stores(body) == std::vector<std::uint32_t>{4});
  CHECK(census(body).loops == 2);
}

TEST_CASE("an assertion in a vectorized loop fails when it fails in any lane") {
  Rows rows(4);
  rows.function.messages = {"too large"};
  const Function before = rows.over(
      block({put(rows.out, {rows.y, rows.x}, number(1)), If::make(rows.x > 2, Assert::make(rows.x + rows.y < 9, 0))}));
  const Function after = vectorize(before, masked_target());
  CHECK(run(before, {5}).back() == run(after, {5}).back());
  CHECK(run(before, {7}).back() == run(after, {7}).back());
  CHECK(run(after, {7}).back() == std::vector<std::uint8_t>{1});
}
