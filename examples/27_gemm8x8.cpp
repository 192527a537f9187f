// A micro-kernel in C replaces the three innermost loops: gemm8x8/ has its code, and its definition for comparison.
#include "examples/gemm8x8/gemm8x8.h"
#include "examples/show/show.h"

using namespace ferry;
using namespace ferry::lang;

int main() {
  const std::int64_t size = 256;
  const Tensor a = placeholder({size, size}, DType::f32, "A"), b = placeholder({size, size}, DType::f32, "B");
  const ReduceAxis k = reduce_axis(size, "k");
  const Tensor c = compute({size, size}, [&](auto& i) { return sum(a(i[0], k) * b(k, i[1]), {k}); }, "C");
  const Program program = make_program("matmul", {in(a), in(b), out(c)}, {}, example::with_gemm8x8());

  schedule::Schedule schedule(program);
  auto stage = schedule["C"];
  const auto tiles = stage.tile("i0", "i1", 8, 8);
  const auto [outer, inner] = stage.split("k", 8);
  stage.reorder({tiles[0], tiles[1], outer, tiles[2], tiles[3], inner});
  stage.tensorize(tiles[2], "gemm8x8");
  return example::show(program, schedule, {{size, size}, {size, size}});
}
