#include "crosscompile/passes/memory/flatten.h"

#include "tests/unit/crosscompile/passes/standard_kernels.h"

#include "crosscompile/ir/printer.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

Expr index_of(const Stmt& store) { return store.as<Store>()->indices[0]; }

}  // namespace

TEST_CASE("elements are counted row by row, and an element of rank 0 is at 0") {
  Kernel kernel;
  const Expr n = kernel.size("n"), i = index("i"), j = index("j"), k = index("k");
  const BufferRef cube = kernel.output("cube", DType::i32, {n, 3, 4}), point = kernel.output("point", DType::i32, {});
  kernel.function.body = block(
      {put(point, {}, constant(Type(DType::i32), std::int64_t{7})),
       loop(i, n,
            loop(j, 3, loop(k, 4, put(cube, {i, j, k}, cast(DType::i32, i * 100 + j * 10 + k) + at(point, {})))))});
  const Function flat = flatten(kernel.function);
  CHECK(flat.flat);
  check_same_on_odd_sizes(kernel.function, flat);
}

TEST_CASE("declared strides take the place of the shape's") {
  Kernel kernel;
  const Expr n = kernel.size("n"), s = kernel.size("s"), i = index("i"), j = index("j");
  auto view = std::make_shared<Buffer>();
  view->name = "view";
  view->dtype = DType::i32;
  view->shape = {n, Expr(2)};
  view->strides = {s, Expr(1)};
  const Stmt store = put(view, {i, j}, cast(DType::i32, i));
  kernel.function.body = store;
  CHECK(to_text(index_of(flatten(kernel.function).body)) == "i * s + j");
}

TEST_CASE("a ramp over the last dimension stays a ramp of stride 1, over another one of that dimension's stride") {
  Kernel kernel;
  const Expr n = kernel.size("n"), i = index("i");
  const BufferRef out = kernel.output("out", DType::i32, {n, n});
  const Expr ramp = Ramp::make(i * 8, 1, 8), same = Broadcast::make(i, 8);
  const Expr value = constant(Type(DType::i32, 8), std::int64_t{1});
  kernel.function.body = put(out, {same, ramp}, value);
  const Expr along = index_of(flatten(kernel.function).body);
  REQUIRE(along.as<Ramp>() != nullptr);
  CHECK(is_constant(along.as<Ramp>()->stride, 1));
  kernel.function.body = put(out, {ramp, same}, value);
  const Expr across = index_of(flatten(kernel.function).body);
  REQUIRE(across.as<Ramp>() != nullptr);
  CHECK(across.as<Ramp>()->stride.same_as(n));
}

TEST_CASE("flattening keeps the result of every standard kernel") {
  for (const StandardKernel& kernel : standard_kernels()) {
    CAPTURE(kernel.name);
    const Function flat = flatten(kernel.function);
    const std::vector<std::int64_t> sizes(kernel.function.symbols.size(), 7);
    check_same(kernel.function, flat, sizes);
  }
}
