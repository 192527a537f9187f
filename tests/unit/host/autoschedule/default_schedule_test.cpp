#include "ferry/schedule/default_schedule.h"

#include "ferry/lang/text.h"
#include "ferry/operators.h"
#include "host/autoschedule/inline_choice.h"
#include "host/autoschedule/register_tile.h"
#include "tests/support/schedules/cpu_with_vectors.h"
#include "tests/unit/host/autoschedule/rule_cases.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::lang;
using ferry::ir::ForKind;
using ferry::schedule::Loop;

namespace {

Target wide_target() { return test::cpu_with_vectors(256); }

std::vector<Loop> loops_of(const Program& program, const Tensor& tensor) {
  const auto schedule = autoschedule::default_schedule(program, wide_target());
  const schedule::ScheduledStage& stage = *schedule::find_stage(schedule.stages(), tensor.name());
  std::vector<Loop> result;
  for (std::size_t id : stage.loops.order()) result.push_back(stage.loops.loop(id));
  return result;
}

std::string describe(const std::vector<Loop>& loops) {
  std::string text;
  for (const Loop& loop : loops) {
    text += loop.name;
    if (loop.kind != ForKind::serial) text += std::string(":") + kind_name(loop.kind);
    text += " ";
  }
  return text;
}

}  // namespace

TEST_CASE("a matrix product gets a register tile under its reduction and threads over rows") {
  const Expr m = var("m"), n = var("n"), k = var("k");
  const Tensor a = placeholder({m, k}, DType::f32, "A"), b = placeholder({k, n}, DType::f32, "B");
  const ReduceAxis r = reduce_axis(k, "r");
  const Tensor c = compute({m, n}, [&](auto& i) { return sum(a(i[0], Expr(r)) * b(Expr(r), i[1]), {r}); }, "C");
  const auto loops = loops_of(make_program("mm", {in(a), in(b), out(c)}), c);
  REQUIRE_MESSAGE(loops.size() == 6, describe(loops));
  CHECK(loops[0].kind == ForKind::parallel);
  CHECK_MESSAGE(loops[2].reduces, describe(loops));
  CHECK(loops[3].kind == ForKind::unrolled);
  CHECK(loops[4].kind == ForKind::unrolled);
  CHECK(loops[5].kind == ForKind::vectorized);
  CHECK(ir::is_constant(loops[5].extent, 8));
}

TEST_CASE("a row sum reduces in vectors") {
  const Expr m = var("m"), n = var("n");
  const Tensor a = placeholder({m, n}, DType::f32, "A");
  const ReduceAxis k = reduce_axis(n, "k");
  const Tensor s = compute({m}, [&](auto& i) { return sum(a(i[0], Expr(k)), {k}); }, "S");
  const auto loops = loops_of(make_program("row_sum", {in(a), out(s)}), s);
  REQUIRE(loops.size() == 3);
  CHECK_MESSAGE((loops.back().reduces && loops.back().kind == ForKind::vectorized), describe(loops));
}

TEST_CASE("a reduction of booleans that divides by a size has as many lanes as the division, and no more code") {
  const Expr n = var("n");
  const Tensor a = placeholder({n}, DType::boolean, "A");
  const ReduceAxis k = reduce_axis(n, "k");
  const auto lanes = [&](const Expr& condition) {
    const Tensor every = compute({}, [&](auto&) { return all_over(a(Expr(k)) && condition, {k}); }, "every");
    std::int64_t product = 1;
    for (const Loop& loop : loops_of(make_program("f", {in(a), out(every)}), every))
      if (const std::int64_t* extent = ir::as_int(loop.extent)) product *= *extent;
    return product;
  };
  CHECK(lanes(Expr(k) % n < 5) * 8 == lanes(Expr(k) < 5));
}

TEST_CASE("a column sum runs its vectors along the columns") {
  const Expr m = var("m"), n = var("n");
  const Tensor a = placeholder({m, n}, DType::f32, "A");
  const ReduceAxis k = reduce_axis(m, "k");
  const Tensor s = compute({n}, [&](auto& i) { return sum(a(Expr(k), i[0]), {k}); }, "S");
  const auto loops = loops_of(make_program("column_sum", {in(a), out(s)}), s);
  CHECK_MESSAGE((!loops.back().reduces && loops.back().kind == ForKind::vectorized), describe(loops));
}

TEST_CASE("what is packed in a byte is unrolled, so that vectors of bytes are loaded once") {
  const Tensor x = placeholder({3, 64}, DType::f32, "X"), w = placeholder({32, 70}, DType::u8, "W");
  const Tensor scales = placeholder({70}, DType::f32, "S");
  const ReduceAxis k = reduce_axis(32, "k"), e = reduce_axis(2, "e");
  const Tensor y = compute(
      {3, 70},
      [&](auto& i) {
        const Expr weight = w(Expr(k), i[1]) >> ir::cast(DType::u8, Expr(e) * 4);
        return sum(x(i[0], Expr(k) * 2 + e) * ir::cast(DType::f32, weight) * scales(i[1]), {k, e});
      },
      "Y");
  const auto loops = loops_of(make_program("packed", {in(x), in(w), in(scales), out(y)}), y);
  const auto entry = std::ranges::find_if(loops, [](const Loop& loop) { return loop.name == "e"; });
  REQUIRE(entry != loops.end());
  CHECK_MESSAGE(entry->kind == ForKind::unrolled, describe(loops));
  CHECK_MESSAGE((!loops.back().reduces && loops.back().kind == ForKind::vectorized), describe(loops));
}

TEST_CASE("a stage that reads two reductions is the epilogue of one of them") {
  const Expr m = var("m"), n = var("n");
  const Tensor a = placeholder({m, n}, DType::f32, "A"), b = placeholder({m, n}, DType::f32, "B");
  const ReduceAxis k = reduce_axis(m, "k"), l = reduce_axis(m, "l");
  const Tensor s = compute({n}, [&](auto& i) { return sum(a(Expr(k), i[0]), {k}); }, "S");
  const Tensor t = compute({n}, [&](auto& i) { return sum(b(Expr(l), i[0]), {l}); }, "T");
  const Tensor y = compute({n}, [&](auto& i) { return s(i[0]) * t(i[0]); }, "Y");
  const auto schedule = autoschedule::default_schedule(make_program("two_sums", {in(a), in(b), out(y)}), wide_target());
  int fused = 0;
  for (const schedule::Directive& directive : schedule.directives())
    fused += directive.primitive == "compute_at" && directive.args.at(0) == "Y";
  CHECK_MESSAGE(fused == 1, schedule.to_text());
}

TEST_CASE("work too small for threads stays on one") {
  const Tensor a = placeholder({100}, DType::f32, "A");
  const Tensor b = compute({100}, [&](auto& i) { return a(i[0]) + a(i[0]); }, "B");
  for (const Loop& loop : loops_of(make_program("small", {in(a), out(b)}), b)) CHECK(loop.kind != ForKind::parallel);
}

TEST_CASE("copies and stages used once are computed where they are used; what is used twice is stored") {
  const Expr n = var("n");
  const Tensor a = placeholder({n}, DType::f32, "A");
  const Tensor copied = compute({n}, [&](auto& i) { return a(n - Expr(1) - i[0]); }, "copied");
  const Tensor once = compute({n}, [&](auto& i) { return ir::call_math("exp", {copied(i[0])}); }, "once");
  const Tensor twice = compute({n}, [&](auto& i) { return ir::call_math("log", {once(i[0])}); }, "twice");
  const Tensor result = compute({n}, [&](auto& i) { return twice(i[0]) * twice(i[0]); }, "result");
  const auto inlined = autoschedule::stages_to_inline(schedule::stages_of(make_program("chain", {in(a), out(result)})));
  CHECK(inlined == std::vector<std::string>{"copied", "once"});
}

TEST_CASE("a stage read again for every column is not repeated for each") {
  const Expr m = var("m"), n = var("n");
  const Tensor a = placeholder({m}, DType::f32, "A"), b = placeholder({m, n}, DType::f32, "B");
  const Tensor scale = compute({m}, [&](auto& i) { return ir::call_math("exp", {a(i[0])}); }, "scale");
  const Tensor c = compute({m, n}, [&](auto& i) { return scale(i[0]) * b(i[0], i[1]); }, "C");
  CHECK(autoschedule::stages_to_inline(schedule::stages_of(make_program("rows", {in(a), in(b), out(c)}))).empty());
}

TEST_CASE("register tiles fit the registers and do not waste rows that are known") {
  for (std::uint32_t registers : {16U, 32U}) {
    for (std::int64_t rows : {0, 1, 3, 7, 64, 512}) {
      const auto tile = autoschedule::choose_register_tile(registers, {.lanes = 8, .rows = rows});
      INFO(registers << " registers, " << rows << " rows: " << tile.rows << " x " << tile.vectors);
      CHECK(tile.rows * tile.vectors + tile.vectors + 1 < registers);
      if (rows > 0) CHECK(tile.rows <= rows);
    }
  }
  CHECK(autoschedule::choose_register_tile(32, {.lanes = 16, .rows = 7}).rows == 7);
  // All 7 pixels of two rows of an image, if it has several.
  CHECK(autoschedule::choose_register_tile(32, {.lanes = 16, .rows = 7, .outer_rows = 4, .vector_cost = 4}).rows == 14);
  CHECK(autoschedule::choose_register_tile(32, {.lanes = 16, .rows = 7, .outer_rows = 1, .vector_cost = 4}).rows == 7);
  CHECK(autoschedule::choose_register_tile(32, {.lanes = 16, .has_rows = false}).rows == 1);
}

TEST_CASE("the more tiles there are, the less a register tile is chosen for what it leaves, except in windows") {
  using autoschedule::RegisterTile;
  const auto tile = [](std::int64_t rows, std::int64_t columns, bool counts_tails) {
    return autoschedule::choose_register_tile(
        16, {.columns = columns, .lanes = 8, .rows = rows, .vector_cost = 1.15, .counts_tails = counts_tails});
  };
  CHECK(tile(1000, 1024, true) == RegisterTile{6, 2});
  CHECK(tile(1000, 1024, false) == RegisterTile{5, 2});
  CHECK(tile(20, 1024, true) == RegisterTile{5, 2});
  const char* const product = "def f(float(M,K) A, const float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
  const std::string text =
      autoschedule::default_schedule(lang::parse(product, "test.tc").at(0), test::small_cpu(512, 32 << 10, 1 << 20),
                                     {{"M", 8}, {"N", 4096}, {"K", 4096}})
          .to_text();
  INFO(text);
  CHECK(text.find("C: split n 48\n") != std::string::npos);
}

TEST_CASE("a default schedule is text that replays to itself") {
  const Expr m = var("m"), n = var("n"), k = var("k");
  const Tensor a = placeholder({m, k}, DType::f32, "A"), b = placeholder({k, n}, DType::f32, "B");
  const ReduceAxis r = reduce_axis(k, "r");
  const Tensor c = compute({m, n}, [&](auto& i) { return sum(a(i[0], Expr(r)) * b(Expr(r), i[1]), {r}); }, "C");
  const Tensor d = compute({m, n}, [&](auto& i) { return ir::max(c(i[0], i[1]), Expr(0.0f)); }, "D");
  const Program program = make_program("mm_relu", {in(a), in(b), out(d)});
  const std::string text = autoschedule::default_schedule(program, wide_target()).to_text();
  CHECK(schedule::Schedule::replay(program, text).to_text() == text);
  CHECK_MESSAGE(text.find("C: vectorize i1.inner.inner\n") != std::string::npos, text);
}

TEST_CASE("an axis of less than no points is scheduled like any other, and ends") {
  const Tensor a = placeholder({4}, DType::f32, "A");
  for (const std::int64_t extent : {-1, -5}) {
    const ReduceAxis k = reduce_axis(Expr(extent), "k");
    const Tensor sum = compute({}, [&](auto&) { return lang::sum(a(Expr(k)), {k}); }, "S");
    const Program program = make_program("f", {in(a), out(sum)});
    CHECK(autoschedule::default_schedule(program, wide_target()).stages().size() == 1);
  }
  const Expr n = var("n");
  const Tensor b = placeholder({n}, DType::f32, "B");
  const Tensor shorter = compute({n - 2}, [&](auto& i) { return b(i[0]) + b(i[0] + 2); }, "S");
  const Program program = make_program("f", {in(b), out(shorter)});
  CHECK(autoschedule::default_schedule(program, wide_target(), {{"n", 1}}).stages().size() == 1);
}
