// Tests of stages that C functions compute, and of the schedules around them.
#include "ferry/lang/extern_stage.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/target/resolve.h"
#include "ferry/intrinsics.h"
#include "ferry/schedule/default_schedule.h"
#include "host/lower/lower.h"

#include <doctest/doctest.h>

#include <functional>

using namespace ferry;
using namespace ferry::lang;

namespace {

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const CompileError& error) {
    return error.what();
  }
  return "nothing was refused";
}

// first = A + 1, middle computed by a C function, last = middle * 3.
Program three_stages() {
  const Expr n = var("n");
  const Tensor a = placeholder({n}, DType::f32, "A");
  const Tensor first = compute({n}, [&](auto& i) { return a(i) + 1.0f; }, "first");
  const Tensor middle = extern_stage({n}, [&](auto& i) { return first(i) * 2.0f; }, "twice", {first, n}, "middle");
  const Tensor last = compute({n}, [&](auto& i) { return middle(i) * 3.0f; }, "last");
  return make_program("f", {in(a), out(last)});
}

std::string replayed(const std::string& schedule) {
  const Program program = three_stages();
  return refusal([&] { lower::lower(program, schedule::Schedule::replay(program, schedule)); });
}

}  // namespace

TEST_CASE("a C function's stage is one call between the loops of its neighbours") {
  const Program program = three_stages();
  for (const schedule::Schedule& how :
       {schedule::Schedule(program), autoschedule::default_schedule(program, resolve_target("x86-64-v3"))}) {
    const std::string text = ir::to_text(lower::lower(program, how));
    INFO(text);
    CHECK(text.find("twice(address_of(middle[0]), address_of(first[0]), n);") != std::string::npos);
  }
}

TEST_CASE("what a C function computes, and what it needs, keeps its place") {
  const std::string whole =
      ": expected an intermediate tensor, got 'first', which the C function 'twice' needs as a whole";
  CHECK(replayed("first: compute_inline") == "schedule, line 1: first: compute_inline" + whole);
  CHECK(replayed("first: transform_layout (i) -> (i % 4, i / 4)") ==
        "schedule, line 1: first: transform_layout (i) -> (i%4, i/4)" + whole);
  CHECK(replayed("middle: split i0 4") ==
        "schedule, line 1: middle: split i0 4: expected a stage with loops, got 'middle', which the C function 'twice' "
        "computes");
  CHECK(replayed("first: split i0 4 -> o i\nvectorize i\nparallel o") == "nothing was refused");
  CHECK(replayed("inline_injective") == "nothing was refused");
}

TEST_CASE("a C function's result is dense, and not where its old values are") {
  const Expr n = var("n"), s = var("s");
  const Tensor a = placeholder({n}, DType::f32, "A");
  const Tensor twice = extern_stage({n}, [&](auto& i) { return a(i) * 2.0f; }, "twice", {a, n}, "B");
  const Program strided = make_program("f", {in(a), out(twice, {s})});
  CHECK(refusal([&] { lower::lower(strided, schedule::Schedule(strided)); }) ==
        "'B': expected a dense result of the C function 'twice', got one with strides");
  const Program updated = make_program("f", {inout(a, twice)});
  const std::string text = ir::to_text(lower::lower(updated, schedule::Schedule(updated)));
  INFO(text);
  CHECK(text.find("twice(address_of(B[0]), address_of(A[0]), n);") != std::string::npos);
}

TEST_CASE("a nest that a C function is to take the place of must walk as its definition does") {
  const auto piece = [](const char* name, std::vector<Expr> strides) {
    auto buffer = std::make_shared<ir::Buffer>();
    buffer->name = name;
    buffer->shape = {Expr(4), Expr(4)};
    buffer->strides = std::move(strides);
    return buffer;
  };
  // c[i, j] += a[i, k] * b[k, j], where the rows of b are contiguous.
  const Expr lda = var("lda"), i = var("i"), j = var("j"), k = var("k");
  const ir::BufferRef c = piece("c", {}), a = piece("a", {lda, Expr(1)}), b = piece("b", {});
  TensorIntrinsic tile{{"tile", {}}, {}};
  ir::Function definition;
  definition.name = "tile";
  for (const ir::BufferRef& buffer : {c, a, b})
    definition.parameters.push_back({buffer->name, ParameterKind::tensor, Direction::in, buffer, {}});
  definition.symbols = {lda};
  definition.body =
      ir::Store::make(c, {i, j}, ir::Load::make(c, {i, j}) + ir::Load::make(a, {i, k}) * ir::Load::make(b, {k, j}));
  for (const Expr& variable : {k, j, i})
    definition.body = ir::For::make(variable, Expr(0), Expr(4), ir::ForKind::serial, definition.body);
  tile.update.definition = std::make_shared<const ir::Function>(std::move(definition));
  const auto context = std::make_shared<Context>();
  context->add_tensor_intrinsic("tile", tile);

  const Tensor x = placeholder({8, 8}, DType::f32, "A"), y = placeholder({8, 8}, DType::f32, "B");
  const ReduceAxis r = reduce_axis(8, "r");
  const auto program = [&](const Tensor& z) { return make_program("f", {in(x), in(y), out(z)}, {}, context); };
  const Program plain = program(compute({8, 8}, [&](auto& p) { return sum(x(p[0], r) * y(r, p[1]), {r}); }, "C"));
  const std::string tiled = "C: tile i0 i1 4 4 -> mo no m n\nsplit r 4 -> ro k\nreorder mo no ro m n k\n";
  const auto refused = [](const Program& with, const std::string& schedule) {
    return refusal([&] { lower::lower(with, schedule::Schedule::replay(with, schedule)); });
  };
  CHECK(refused(plain, tiled + "tensorize m tile") ==
        "'C': tensorize m tile: expected the elements of 'B' to be 4 apart along 'k' of 'tile', got 8");
  CHECK(refused(plain, "B: cache_read global -> P\nP: transform_layout (k, n) -> (n / 4, k, n % 4)\n" + tiled +
                           "tensorize m tile") == "nothing was refused");
  CHECK(refused(plain, tiled + "tensorize n tile") ==
        "schedule, line 4: C: tensorize n tile: expected loops (i in 4, j in 4, k in 4), got loops (n in 4, k in 4)");
  const Program less = program(compute({8, 8}, [&](auto& p) { return sum(x(p[0], r) - y(r, p[1]), {r}); }, "C"));
  CHECK(refused(less, tiled + "tensorize m tile") ==
        "schedule, line 4: C: tensorize m tile: expected 'a[i, k] * b[k, j]', got 'A[mo * 4 + m, ro * 4 + k] - B[ro * "
        "4 + "
        "k, no * 4 + n]'");
}
