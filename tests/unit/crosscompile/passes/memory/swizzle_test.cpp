// Tests the positions of elements in swizzled buffers.
#include "crosscompile/passes/memory/swizzle.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <doctest/doctest.h>

#include <memory>
#include <set>

using namespace ferry;

namespace {

ir::Buffer rows_of(DType type, std::int64_t rows, std::int64_t row) {
  ir::Buffer buffer;
  buffer.name.push_back('S');
  buffer.dtype = type;
  buffer.scope = ir::Scope::shared;
  buffer.shape = {ir::Expr(rows), ir::Expr(row)};
  buffer.storage.swizzled = true;
  return buffer;
}

std::int64_t place_of(const ir::Buffer& buffer, std::int64_t position) {
  return *ir::as_int(passes::simplify(passes::swizzled(buffer, ir::Expr(position))));
}

}  // namespace

TEST_CASE("every element of a swizzled buffer has a place in its row, and the 16 bytes of a piece stay together") {
  for (const auto& [type, row] : {std::pair(DType::f16, 16),
                                  {DType::f16, 32},
                                  {DType::f16, 128},
                                  {DType::f32, 8},
                                  {DType::f32, 128},
                                  {DType::f64, 16},
                                  {DType::i8, 64}}) {
    constexpr std::int64_t kRows = 16;
    const ir::Buffer buffer = rows_of(type, kRows, row);
    const std::int64_t piece = 16 / static_cast<std::int64_t>(dtype_bytes(type));
    CHECK(passes::swizzled_piece(buffer) == piece);
    std::set<std::int64_t> taken;
    for (std::int64_t i = 0; i < kRows * row; ++i) {
      const std::int64_t place = place_of(buffer, i);
      CHECK(place / row == i / row);
      CHECK(place % piece == i % piece);
      taken.insert(place);
    }
    CHECK(taken.size() == static_cast<std::size_t>(kRows * row));
  }
}

TEST_CASE("the same piece of eight rows is in eight different places of the banks") {
  for (const std::int64_t row : {16, 32, 64, 128, 256}) {
    const ir::Buffer buffer = rows_of(DType::f16, 64, row);
    for (std::int64_t first = 0; first < 64; first += 8)
      for (std::int64_t column = 0; column < row; column += 8) {
        std::set<std::int64_t> banks;
        for (std::int64_t r = 0; r < 8; ++r) banks.insert(place_of(buffer, (first + r) * row + column) % 64);
        CAPTURE(row);
        CHECK(banks.size() == 8);
      }
  }
}

TEST_CASE("rows are swizzled that are a power of two of pieces, and more than one") {
  CHECK(passes::can_swizzle(DType::f16, 16));
  CHECK(passes::can_swizzle(DType::f64, 4));
  CHECK(!passes::can_swizzle(DType::f16, 8));
  CHECK(!passes::can_swizzle(DType::f16, 24));
  CHECK(!passes::can_swizzle(DType::f16, 20));
  CHECK(!passes::can_swizzle(DType::f32, 0));
}
