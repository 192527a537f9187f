// Tests elements that are broadcast to all lanes: those beside each other are lanes of one register on ARM.
#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "tests/unit/crosscompile/codegen/llvm/build_ir.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

using namespace ferry;
using namespace ferry::codegen_test;

namespace {

constexpr std::int64_t kRounds = 5;

// Small whole numbers, so that sums are exact.
Bytes numbers(DType dtype, std::int64_t count, std::int64_t first) {
  Bytes bytes(static_cast<std::size_t>(count) * dtype_bytes(dtype));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t value = (first + i * 7) % 23 - 11;
    const auto single = static_cast<float>(value);
    const auto twice = static_cast<double>(value);
    const auto whole = static_cast<std::int32_t>(value);
    const void* number = dtype == DType::f32   ? static_cast<const void*>(&single)
                         : dtype == DType::f64 ? static_cast<const void*>(&twice)
                                               : static_cast<const void*>(&whole);
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * dtype_bytes(dtype), number, dtype_bytes(dtype));
  }
  return bytes;
}

// In each round, adds an element of `left` for each of the offsets, from the round's first element on, times a vector.
// `left` ends with the last element that is read.
Case sums(DType dtype, std::uint32_t lanes, const std::vector<std::int64_t>& offsets) {
  constexpr std::int64_t kApart = 9;
  const auto vectors = static_cast<std::int64_t>(offsets.size());
  const std::int64_t width = vectors * lanes;
  const std::int64_t elements = (kRounds - 1) * kApart + *std::ranges::max_element(offsets) + 1;
  const BufferRef sum = make_buffer("sum", dtype, lanes), left = make_buffer("left", dtype, elements),
                  right = make_buffer("right", dtype, kRounds * width);
  const Expr k = Var::make("k"), at = Ramp::make(0, 1, lanes);
  std::vector<Stmt> steps;
  for (std::int64_t i = 0; i < vectors; ++i) {
    // As unrolling leaves it.
    const Expr first = Binary::make(BinaryOp::mul, Binary::make(BinaryOp::add, k, Expr(0)), Expr(kApart));
    const Expr index = Binary::make(BinaryOp::add, first, Expr(offsets[static_cast<std::size_t>(i)]));
    const Expr x = Broadcast::make(Load::make(left, {index}), lanes);
    const Expr w = Load::make(right, {Ramp::make(k * Expr(width) + Expr(i * lanes), 1, lanes)});
    steps.push_back(Store::make(sum, {at}, Load::make(sum, {at}) + x * w));
  }
  Case one;
  one.function =
      make_function("sums", {tensor(sum, Direction::inout), tensor(left, Direction::in), tensor(right, Direction::in)},
                    loop(k, Expr(kRounds), Block::make(steps)));
  one.arguments = {numbers(dtype, lanes, 3), numbers(dtype, elements, 1), numbers(dtype, kRounds * width, 5)};
  return one;
}

std::string assembly_of(const Case& one, const char* target) {
  const Target resolved = resolve_target(target);
  return codegen::emit_assembly(std::vector<Function>{passes::run_pipeline(one.function, resolved)}, resolved);
}

}  // namespace

TEST_CASE("elements that share a register are multiplied as if each had been loaded by itself") {
  std::vector<Case> cases;
  for (const DType dtype : {DType::f32, DType::f64, DType::i32})
    for (const std::uint32_t lanes : {2, 4, 6, 8})
      for (const std::vector<std::int64_t>& offsets :
           {std::vector<std::int64_t>{0}, {0, 1}, {0, 1, 2}, {3, 0, 2, 1}, {0, 2, 5}, {6, 7, 1, 0, 3}, {0, 8}})
        cases.push_back(sums(dtype, lanes, offsets));
  check_everywhere(cases, true);
  check_on({"raspberry-pi-5", {"qemu-aarch64", "-cpu", "max"}}, cases, true);
}

TEST_CASE("a register holds four elements of a product's row on ARM, which each multiply as a lane") {
  const std::string shared = assembly_of(sums(DType::f32, 4, {0, 1, 2, 3}), "raspberry-pi-4");
  CAPTURE(shared);
  CHECK(shared.find("ld1r") == std::string::npos);
  for (const char* lane : {".s[0]", ".s[1]", ".s[2]", ".s[3]"}) CHECK(shared.find(lane) != std::string::npos);
  // Elements that are farther apart than a register is long are loaded one by one.
  CHECK(assembly_of(sums(DType::f32, 4, {0, 8}), "raspberry-pi-4").find(".s[1]") == std::string::npos);
}
