#include "crosscompile/foreign/cuda_launch.h"

#include <doctest/doctest.h>

#include "crosscompile/foreign/signature.h"
#include "crosscompile/ir/error.h"

namespace ferry::foreign {
namespace {

constexpr const char* kSignature = "f(in f32[m,n] x, out f32[m,n] y)";

Signature with(const std::string& launch, const std::string& signature = kSignature) {
  return parse_cuda_signature(signature, launch);
}

LaunchExtents extents(const std::string& launch, std::int64_t m, std::int64_t n) {
  const Signature signature = with(launch);
  const std::int64_t symbols[] = {m, n};
  return launch_extents(*signature.launch, signature.function, symbols);
}

std::string refusal(const std::string& launch, std::int64_t m = 1, std::int64_t n = 1) {
  try {
    extents(launch, m, n);
  } catch (const CompileError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST_CASE("a launch is computed from the sizes of the signature") {
  const LaunchExtents tiles =
      extents("grid=(ceildiv(n, 16), ceildiv(m, 16)), block=(16, 16), shared=4 * (16 + 2) * 16", 33, 100);
  CHECK(tiles.grid == std::array<unsigned, 3>{7, 3, 1});
  CHECK(tiles.block == std::array<unsigned, 3>{16, 16, 1});
  CHECK(tiles.shared_bytes == 1152);
  CHECK(extents("block = min(256, n), grid = (n + 255) / 256 * m", 3, 1000).grid[0] == 12);
  CHECK(extents("grid=(m), block=max(1, n/m)", 2, 8).block[0] == 4);
  CHECK(extents("grid=ceildiv(n, m), block=1", 3, 7).grid[0] == 3);
  CHECK(extents("grid=(1, 2, 3), block=(4, 5, 6)", 1, 1).grid == std::array<unsigned, 3>{1, 2, 3});
  CHECK(extents("grid=ceildiv(n, 256), block=1", 1, 0).grid[0] == 0);
  CHECK(extents("grid=ceildiv(n, 256), block=1", 1, 256).grid[0] == 1);
}

TEST_CASE("what does not parse is refused with its column and what was expected") {
  CHECK(refusal("grid=k, block=1").starts_with("launch, column 6: expected a size of the signature: m, n, got 'k'"));
  CHECK(refusal("grid=n").starts_with("launch, column 7: expected , block=, got the end"));
  CHECK(refusal("block=1").starts_with("launch, column 8: expected , grid=, got the end"));
  CHECK(refusal("grid=1, grid=2, block=1").starts_with("launch, column 9: expected grid once"));
  CHECK(refusal("girth=1").starts_with("launch, column 1: expected grid, block or shared"));
  CHECK(refusal("grid=(1,2,3,4), block=1").find("at most three extents") != std::string::npos);
  CHECK(refusal("grid=sin(n, 2), block=1").find("min, max or ceildiv") != std::string::npos);
  CHECK(refusal("grid=n block=1").find("expected ',' or the end") != std::string::npos);
  CHECK(refusal("grid=" + std::string(50, '(') + "n, block=1").find("fewer parentheses") != std::string::npos);
  CHECK_THROWS_WITH_AS(with("grid=1, block=1", "i32 f(out f32[3] y)"), doctest::Contains("kernels of GPUs have none"),
                       CompileError);
}

TEST_CASE("what CUDA does not take is refused before anything is launched, with the sizes") {
  CHECK(refusal("grid=n/256, block=256", 1, 100) ==
        "f: the grid must have 1 to 2,147,483,647 blocks along x, by the launch 'grid=n/256, block=256', got m = 1, "
        "n = 100");
  CHECK(refusal("grid=n - 5, block=1").find("1 to 2,147,483,647 blocks along x") != std::string::npos);
  CHECK(refusal("grid=(1, n), block=1", 1, 65'536).find("1 to 65,535 blocks along y") != std::string::npos);
  CHECK(refusal("grid=1, block=n", 1, 1025).find("1 to 1,024 threads along x") != std::string::npos);
  CHECK(refusal("grid=0, block=1").find("1 to 2,147,483,647 blocks along x") != std::string::npos);
  CHECK(refusal("grid=n, block=(32, 33)").find("at most 1,024 threads") != std::string::npos);
  CHECK(with("grid=ceildiv(n, 16), block=256, shared=1024").function.preconditions.size() == 1);
  CHECK(refusal("grid=1, block=n", 1, 0).find("1 to 1,024 threads along x") != std::string::npos);
  CHECK(refusal("grid=1, block=(1, 1, n)", 1, 65).find("1 to 64 threads along z") != std::string::npos);
  CHECK(refusal("grid=1, block=(n, n)", 1, 33).find("at most 1,024 threads") != std::string::npos);
  CHECK(refusal("grid=1, block=1, shared=n", 1, 300'000).find("bytes of shared memory") != std::string::npos);
  CHECK(refusal("grid=1, block=1, shared=m-n", 1, 2).find("bytes of shared memory") != std::string::npos);
  CHECK(refusal("grid=n * 9223372036854775807, block=1", 1, 2).find("its launch") != std::string::npos);
  CHECK(refusal("grid=1 / (n - 1), block=1").find("division by zero") != std::string::npos);
  // An empty grid computes nothing, which is right for results without elements alone.
  CHECK(refusal("grid=n, block=1", 1, 0) == "nothing was refused");
  CHECK(refusal("grid=m, block=1", 0, 5) == "nothing was refused");
}

TEST_CASE("a launch stands behind the signature, and another one takes its place") {
  const std::string text = "f(in f32[n] x, out f32[n] y, i32 n) grid=ceildiv(n, 64), block=64";
  CHECK(parse_cuda_signature(text, "").launch->text == "grid=ceildiv(n, 64), block=64");
  CHECK(parse_cuda_signature(text, "grid=1, block=32").launch->text == "grid=1, block=32");
  CHECK_FALSE(parse_cuda_signature("f(in f32[n] x)", "").launch.has_value());
}

TEST_CASE("a size of another type is passed in its place and limited to what the type holds") {
  const Signature signature = parse_signature("f(in f32[n] x, i32 n, u64 k, out f32[n,k] y, i64 k2, in f32[k] z)");
  CHECK(signature_text(signature.function) == "f(in f32[n] x, out f32[n,k] y, in i64 k2, in f32[k] z)");
  REQUIRE(signature.passed.size() == 6);
  CHECK(signature.passed[1].is_size);
  CHECK(signature.passed[1].dtype == DType::i32);
  CHECK(signature.passed[2].dtype == DType::u64);
  CHECK_FALSE(signature.passed[4].is_size);
  REQUIRE(signature.function.preconditions.size() == 1);
  CHECK(signature.function.preconditions[0].message == "n must be at most 2,147,483,647, since f takes it as int32_t");
}

}  // namespace
}  // namespace ferry::foreign
