#include "host/schedule/stages/stage_loops.h"

#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"
#include "host/lang/stage.h"

#include <doctest/doctest.h>

#include <set>

using namespace ferry;
using namespace ferry::lang;
using ferry::schedule::StageLoops;

namespace {

StageLoops loops_of(const Tensor& tensor) {
  const auto* reduce = tensor.stage()->values[0].as<ir::Reduce>();
  return StageLoops(tensor.stage()->axes, reduce == nullptr ? std::vector<ir::Axis>{} : reduce->axes);
}

Tensor matrix_sum(Expr rows, Expr columns) {
  const Tensor a = placeholder({rows, columns}, DType::f32, "A");
  const ReduceAxis k = reduce_axis(columns, "k");
  return compute({rows}, [&](auto& i) { return sum(a(i[0], Expr(k)), {k}); }, "S");
}

// Returns every point that the loops of a one-axis stage reach, counting only iterations that pass the guards.
std::multiset<std::int64_t> points_reached(const StageLoops& loops) {
  std::multiset<std::int64_t> points;
  const auto values = loops.axis_values();
  const auto guards = loops.guards();
  std::vector<std::size_t> order = loops.order();
  std::function<void(std::size_t, ir::Substitution)> run = [&](std::size_t depth, ir::Substitution at) {
    if (depth == order.size()) {
      for (const Expr& guard : guards)
        if (!passes::can_prove(ir::substitute(guard, at))) return;
      points.insert(*ir::as_int(passes::simplify(ir::substitute(values[0].value, at))));
      return;
    }
    const auto& loop = loops.loop(order[depth]);
    for (std::int64_t i = 0; i < *ir::as_int(loop.extent); ++i) {
      at[loop.var.get()] = Expr(i);
      run(depth + 1, at);
    }
  };
  run(0, {});
  return points;
}

Tensor line(std::int64_t length) {
  return compute({Expr(length)}, [](auto& i) { return i[0]; }, "L");
}

}  // namespace

TEST_CASE("a stage starts with one loop an axis, its reduction's inside") {
  const Tensor s = matrix_sum(var("m"), var("n"));
  const StageLoops loops = loops_of(s);
  REQUIRE(loops.order().size() == 2);
  CHECK_FALSE(loops.loop(loops.order()[0]).reduces);
  CHECK(loops.loop(loops.order()[1]).reduces);
  CHECK(loops.loop(loops.order()[1]).name == "k");
}

TEST_CASE("splits reach every point once, whatever divides") {
  for (std::int64_t length : {1, 7, 12, 13}) {
    for (std::int64_t factor : {1, 3, 4, 16}) {
      const Tensor tensor = line(length);
      StageLoops loops = loops_of(tensor);
      const auto [outer, inner] = loops.split(loops.spatial(0), factor);
      loops.split(inner, 2);
      loops.split(outer, 2);
      const auto points = points_reached(loops);
      CHECK_MESSAGE(points.size() == static_cast<std::size_t>(length), "length ", length, " factor ", factor);
      CHECK(std::set<std::int64_t>(points.begin(), points.end()).size() == points.size());
    }
  }
}

TEST_CASE("a split that divides evenly needs no guard") {
  const Tensor tensor = line(12);
  StageLoops loops = loops_of(tensor);
  loops.split(loops.spatial(0), 4);
  CHECK(loops.guards().empty());
  const Tensor odd = line(13);
  StageLoops odd_loops = loops_of(odd);
  odd_loops.split(odd_loops.spatial(0), 4);
  CHECK(odd_loops.guards().size() == 1);
}

TEST_CASE("fusing what was split gives every point once, in order") {
  const Tensor tensor = line(13);
  StageLoops loops = loops_of(tensor);
  const auto [outer, inner] = loops.split(loops.spatial(0), 4);
  loops.fuse(outer, inner);
  REQUIRE(loops.order().size() == 1);
  CHECK(points_reached(loops).size() == 13);
}

TEST_CASE("a fused loop over two negative extents has no iterations, and known sizes need no clamp") {
  const Expr n = var("n"), m = var("m");
  const Tensor plane = compute({n, m}, [](auto& i) { return i[0] + i[1]; }, "P");
  StageLoops loops = loops_of(plane);
  const std::size_t fused = loops.fuse(loops.spatial(0), loops.spatial(1));
  const auto extent = [&](const Expr& rows, const Expr& columns, const std::vector<Expr>& facts) {
    return loops.over({{Expr(0), rows}, {Expr(0), columns}}, facts).loop(fused).extent;
  };
  CHECK(*ir::as_int(extent(-1, -1, {})) <= 0);
  CHECK(*ir::as_int(extent(-1, 3, {})) <= 0);
  CHECK(*ir::as_int(extent(3, -1, {})) <= 0);
  CHECK(ir::equal(extent(n, m, {n >= 0}), passes::simplify(n * m)));
  CHECK(ir::equal(extent(n, 4, {}), passes::simplify(n * 4)));
  const Expr unknown = extent(n - 5, m - 5, {});
  const auto at = [&](std::int64_t rows, std::int64_t columns) {
    return *ir::as_int(passes::simplify(ir::substitute(unknown, {{n.get(), Expr(rows)}, {m.get(), Expr(columns)}})));
  };
  CHECK(at(0, 0) <= 0);
  CHECK(at(7, 8) == 6);
}

TEST_CASE("only neighbours can be fused and a new order must name every loop") {
  const Tensor s = matrix_sum(4, 8);
  StageLoops loops = loops_of(s);
  CHECK_THROWS(loops.fuse(loops.reduction(0), loops.spatial(0)));
  CHECK_THROWS(loops.reorder({loops.spatial(0)}));
  CHECK_THROWS(loops.reorder({loops.spatial(0), loops.spatial(0)}));
  loops.reorder({loops.reduction(0), loops.spatial(0)});
  CHECK(loops.order().front() == loops.reduction(0));
}
