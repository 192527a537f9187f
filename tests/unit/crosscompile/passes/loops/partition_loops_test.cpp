#include "crosscompile/passes/loops/partition_loops.h"

#include "tests/unit/crosscompile/passes/standard_kernels.h"

#include "crosscompile/ir/printer.h"
#include "crosscompile/passes/simplify/simplify.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

Function partitioned(const Function& before, const Target& target, const PartitionLimits& limits = {}) {
  const Function after = simplify(partition_loops(simplify(before), target, limits));
  check_same_on_odd_sizes(before, after);
  return after;
}

// Counts the innermost loops without any condition.
std::size_t clean_loops(const Stmt& stmt) {
  std::size_t clean = 0;
  for (const Stmt& inner : innermost_loops(stmt)) {
    const Census found = census(inner);
    clean += found.ifs == 0 && found.choices == 0;
  }
  return clean;
}

}  // namespace

TEST_CASE("a split's tail leaves the loop over full parts without a guard, and gets a loop of its own") {
  const Stmt body = partitioned(vector_add(DType::f32, 8), plain_target()).body;
  CHECK(census(body).ifs == 0);
  CHECK(census(body).vectorized == 1);
  CHECK(census(body).loops == 4);
}

TEST_CASE("where the target has masks the tail stays one guarded vectorized loop") {
  const Stmt body = partitioned(vector_add(DType::f32, 8), masked_target()).body;
  CHECK(census(body).ifs == 1);
  CHECK(census(body).vectorized == 2);
}

TEST_CASE("a parallel loop stays one loop") {
  for (const Target& target : {plain_target(), masked_target()}) {
    const Stmt body = partitioned(vector_add(DType::f32, 8, kParallel), target).body;
    CHECK(census(body).parallel == 1);
    CHECK(clean_loops(body) >= 1);
  }
}

TEST_CASE("a tile's loops lose both guards in the part that is full both ways") {
  for (const ForKind outer : {ForKind::serial, kParallel}) {
    const Stmt body = partitioned(tiled_matmul(DType::f32, 8, outer), plain_target()).body;
    CHECK(clean_loops(body) >= 3);
    CHECK(census(body).parallel == (outer == kParallel ? 1 : 0));
  }
}

TEST_CASE("a padded convolution's inner rows and columns test nothing") {
  const Stmt body = partitioned(padded_convolution(DType::f32, 4), plain_target()).body;
  CHECK(clean_loops(body) >= 3);
}

TEST_CASE("padding told by any(...) is cut off at both ends") {
  CHECK(clean_loops(partitioned(zero_pad(DType::f32, 4), plain_target()).body) >= 1);
}

TEST_CASE("a triangle is cut where its edge crosses the row") {
  CHECK(clean_loops(partitioned(lower_triangle(DType::f32, 4), plain_target()).body) >= 1);
}

TEST_CASE("a fused loop, in which rows come from a division, tests a row once") {
  const Stmt body = partitioned(fused_rows(DType::f32, 4), plain_target()).body;
  CHECK(clean_loops(body) >= 1);
}

TEST_CASE("two tiles with a border each are taken apart, so that each tests its own border alone") {
  constexpr std::int64_t kRows = 7;
  Kernel kernel;
  const Expr tile = index("tile"), row = index("row"), tap = index("tap");
  const BufferRef out = kernel.output("out", DType::i64, {2 * kRows});
  const Expr at = tile * kRows + row, read = at + tap - 1;
  kernel.function.body =
      loop(tile, 2, loop(tap, 3, loop(row, kRows, put(out, {at}, select(read >= 0 && read < 2 * kRows, read, 0)))));
  const Stmt body = partitioned(kernel.function, plain_target()).body;
  CHECK(to_text(kernel.function.body).find("tile < 2") != std::string::npos);
  CHECK(to_text(body).find("tile") == std::string::npos);
  CHECK(clean_loops(body) == 4);
}

TEST_CASE(
    "each of the nine parts of an image of a fixed size has its own code, also beyond the limit for other sizes") {
  constexpr std::int64_t kTile = 4, kTiles = 5, kSize = kTile * kTiles;
  Kernel kernel;
  const Expr y = index("y"), x = index("x"), row = index("row"), column = index("column"), tap = index("tap");
  const BufferRef out = kernel.output("out", DType::i64, {kSize, kSize});
  const auto reads = [](const Expr& at) { return at >= 0 && at < kSize; };
  const Expr up = y * kTile + row + tap - 1, left = x * kTile + column + tap - 1;
  const Stmt taps =
      loop(tap, 3, put(out, {y * kTile + row, x * kTile + column}, select(reads(up) && reads(left), up * left, 0)),
           ForKind::unrolled);
  kernel.function.body = loop(
      y, kTiles, loop(x, kTiles, loop(row, kTile, loop(column, kTile, taps, ForKind::vectorized), ForKind::unrolled)));
  const auto parts = [&](std::size_t times_as_large) {
    const PartitionLimits limits{.times_as_large_if_fixed = times_as_large, .always_allowed = 0};
    return census(partitioned(kernel.function, masked_target(), limits).body).stores;
  };
  CHECK(parts(PartitionLimits{}.times_as_large_if_fixed) == 9);
  CHECK(parts(PartitionLimits{}.times_as_large) < 9);
}

TEST_CASE("no more is copied than the limit allows") {
  const Function before = tiled_matmul(DType::f32, 8);
  const Stmt none = partitioned(before, masked_target(), {.times_as_large = 0, .always_allowed = 0}).body;
  CHECK(census(none).stores == census(before.body).stores);
  const Stmt some = partitioned(before, masked_target(), {.times_as_large = 0, .always_allowed = 150}).body;
  CHECK(census(some).stores > census(before.body).stores);
  CHECK(census(some).stores < census(partitioned(before, masked_target()).body).stores);
}

TEST_CASE("a loop whose guard always holds, or never, is not cut") {
  Kernel kernel;
  const Expr i = index("i");
  const BufferRef out = kernel.output("out", DType::i64, {24});
  kernel.function.body = loop(i, 24, If::make(i < 24, put(out, {i}, i)));
  const Stmt body = partition_loops(kernel.function, plain_target()).body;
  CHECK(census(body).loops == 1);
}
