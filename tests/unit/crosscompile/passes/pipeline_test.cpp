#include "crosscompile/passes/pipeline.h"

#include "tests/unit/crosscompile/passes/standard_kernels.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::passes;

namespace {

const std::vector<std::vector<std::int64_t>> kTwoSizes{{0, 0},  {1, 1}, {1, 9},  {2, 33},  {3, 8},
                                                       {5, 17}, {8, 7}, {9, 13}, {13, 31}, {17, 16}};

std::vector<std::vector<std::int64_t>> sizes_for(const ir::Function& function) {
  if (function.symbols.size() == 2) return kTwoSizes;
  std::vector<std::vector<std::int64_t>> sizes;
  for (const std::int64_t size : kOddSizes) sizes.push_back({size});
  sizes.push_back({100});
  sizes.push_back({237});
  return sizes;
}

// Returns the function after this pass of the table.
ir::Function up_to(std::string_view last, const ir::Function& function, const Target& target) {
  ir::Function result;
  run_pipeline(function, target, [&](std::string_view pass, const ir::Function& after) {
    if (pass == last) result = after;
  });
  return result;
}

}  // namespace

TEST_CASE("no pass of the table changes what a kernel computes") {
  for (const Target& target : {plain_target(), masked_target()}) {
    for (const StandardKernel& kernel : standard_kernels()) {
      CAPTURE(kernel.name);
      CAPTURE(target.capabilities.masks);
      run_pipeline(kernel.function, target, [&](std::string_view pass, const ir::Function& after) {
        CAPTURE(pass);
        for (const auto& sizes : sizes_for(kernel.function)) check_same(kernel.function, after, sizes);
      });
    }
  }
}

TEST_CASE("after the table no vectorized or unrolled loop is left, and every index is flat") {
  for (const StandardKernel& kernel : standard_kernels()) {
    CAPTURE(kernel.name);
    const ir::Function done = run_pipeline(kernel.function, plain_target());
    const Census found = census(done.body);
    CHECK(found.vectorized == 0);
    CHECK(found.unrolled == 0);
    CHECK(done.flat);
  }
}

TEST_CASE("the passes' names are different, so that a dump can be asked for by name") {
  const auto passes = pipeline();
  for (std::size_t i = 0; i < passes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) CHECK(passes[i].name != passes[j].name);
  }
}

TEST_CASE("what the passes make of a few kernels is as it was last looked at") {
  const Target plain = plain_target(), masked = masked_target();
  check_golden("vector_add.partition_loops", up_to("partition_loops", vector_add(DType::f32, 8), plain));
  check_golden("vector_add.masked", up_to("simplify_addresses", vector_add(DType::f32, 8, kParallel), masked));
  check_golden("vector_add.float16", up_to("simplify_addresses", vector_add(DType::f16, 4), plain));
  check_golden("tiled_matmul", up_to("simplify_addresses", tiled_matmul(DType::f32, 8, kParallel), masked));
  check_golden("row_sum", up_to("simplify_vectors", row_sum(DType::f32, 8), plain));
  check_golden("zero_pad.partition_loops", up_to("partition_loops", zero_pad(DType::f32, 4), masked));
  check_golden("lower_triangle.partition_loops", up_to("partition_loops", lower_triangle(DType::f32, 4), masked));
  check_golden("staged.plan_workspace", up_to("plan_workspace", staged(DType::f32), plain));
}
