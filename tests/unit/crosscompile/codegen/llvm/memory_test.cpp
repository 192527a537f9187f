// Tests loads and stores of every form: strides, gathers, masks, and lanes that access the same element.
#include "tests/unit/crosscompile/codegen/llvm/build_ir.h"

#include <doctest/doctest.h>

#include <limits>

using namespace ferry;
using namespace ferry::codegen_test;

namespace {

constexpr DType kSome[] = {DType::f32, DType::f64, DType::i8, DType::u16, DType::i64, DType::boolean};

Expr ramp(std::int64_t base, std::int64_t stride, std::uint32_t lanes) {
  return Ramp::make(Expr(base), Expr(stride), lanes);
}

}  // namespace

TEST_CASE("loads of any constant stride read the right elements and none beyond the buffer") {
  std::vector<Case> cases;
  for (const DType dtype : kSome) {
    for (const std::uint32_t lanes : {2u, 3u, 4u, 8u, 16u}) {
      for (const std::int64_t stride : {-7, -4, -2, -1, 0, 1, 2, 3, 4, 5}) {
        const std::int64_t span = std::abs(stride) * (lanes - 1) + 1;
        // Nothing beyond whole lines of 64 bytes may be accessed, and the last lane is at their end.
        const std::int64_t whole = (span + 63) / 64 * 64;
        const BufferRef in = make_buffer("in", dtype, whole), out = make_buffer("out", dtype, lanes);
        Case one;
        one.function = make_function(
            "stride", {tensor(in, Direction::in), tensor(out, Direction::out)},
            store(out, ramp(0, 1, lanes), load(in, ramp(stride < 0 ? whole - 1 : whole - span, stride, lanes))));
        one.arguments = {edge_bytes(dtype, static_cast<std::size_t>(whole)), zeros(dtype, lanes)};
        cases.push_back(std::move(one));
      }
    }
  }
  check_everywhere(cases);
}

TEST_CASE("stores of any constant stride write the right elements alone") {
  std::vector<Case> cases;
  for (const DType dtype : kSome) {
    for (const std::uint32_t lanes : {2u, 3u, 8u}) {
      for (const std::int64_t stride : {-4, -1, 0, 1, 2, 5}) {
        const std::int64_t span = std::abs(stride) * (lanes - 1) + 1;
        const BufferRef in = make_buffer("in", dtype, lanes), out = make_buffer("out", dtype, span);
        Case one;
        one.function =
            make_function("stride", {tensor(in, Direction::in), tensor(out, Direction::out)},
                          store(out, ramp(stride < 0 ? span - 1 : 0, stride, lanes), load(in, ramp(0, 1, lanes))));
        one.arguments = {edge_bytes(dtype, lanes), zeros(dtype, static_cast<std::size_t>(span))};
        cases.push_back(std::move(one));
      }
    }
  }
  check_everywhere(cases);
}

TEST_CASE("tiles whose lanes lie apart are written whole, in order where they overlap, and nothing beside them") {
  std::vector<Case> cases;
  // One type of each width: how lanes are turned depends on the width alone.
  for (const DType dtype : {DType::i8, DType::u16, DType::f32, DType::f64}) {
    for (const std::uint32_t lanes : {2u, 4u, 16u}) {
      for (const std::int64_t rows : {5, 14, 16, 20}) {
        // The last stride writes some elements twice.
        for (const std::int64_t stride : {rows, rows + 3, std::int64_t{4}}) {
          const std::int64_t written = stride * lanes + rows + 1;
          const BufferRef in = make_buffer("in", dtype, rows * lanes), out = make_buffer("out", dtype, written);
          std::vector<Stmt> stores;
          for (std::int64_t row = 0; row < rows; ++row) {
            // Store the rows in another order than that of memory.
            const std::int64_t place = row % 2 == 0 ? row / 2 : rows - 1 - row / 2;
            stores.push_back(store(out, ramp(1 + place, stride, lanes), load(in, ramp(row * lanes, 1, lanes))));
          }
          Case one;
          one.function = make_function("tile", {tensor(in, Direction::in), tensor(out, Direction::out)},
                                       Block::make(std::move(stores)));
          one.arguments = {edge_bytes(dtype, static_cast<std::size_t>(rows * lanes)),
                           zeros(dtype, static_cast<std::size_t>(written))};
          cases.push_back(std::move(one));
        }
      }
    }
  }
  check_everywhere(cases);
}

TEST_CASE("gathers and scatters follow their indices, and of lanes that meet the last one stays") {
  const std::vector<std::int64_t> places{3, 0, 3, 7, 1, 1, 6, 2};
  std::vector<Case> cases;
  for (const DType dtype : kSome) {
    const BufferRef index = make_buffer("index", DType::i64, 8);
    const BufferRef in = make_buffer("in", dtype, 8), out = make_buffer("out", dtype, 8);
    const std::vector<FunctionParameter> parameters{tensor(in, Direction::in), tensor(index, Direction::in),
                                                    tensor(out, Direction::out)};
    const Expr all = ramp(0, 1, 8);
    const std::vector<Bytes> arguments{edge_bytes(dtype, 8), bytes_of(places), zeros(dtype, 8)};
    cases.push_back({make_function("gather", parameters, store(out, all, load(in, load(index, all)))), arguments});
    cases.push_back({make_function("scatter", parameters, store(out, load(index, all), load(in, all))), arguments});
    cases.push_back(
        {make_function("splat", parameters, store(out, all, load(in, Broadcast::make(Expr(5), 8)))), arguments});
  }
  check_everywhere(cases);
}

TEST_CASE("gathers of any width follow their indices, and masked lanes give 0") {
  std::vector<Case> cases;
  for (const DType dtype : {DType::f32, DType::i64, DType::u16}) {
    for (const std::uint32_t lanes : {3u, 5u, 6u, 9u, 17u, 24u, 33u, 72u}) {
      std::vector<std::int64_t> places;
      std::vector<std::uint8_t> chosen;
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        places.push_back((lane * 29 + 7) % 80);
        chosen.push_back(lane % 3 != 1 ? 1 : 0);
      }
      const BufferRef index = make_buffer("index", DType::i64, lanes), in = make_buffer("in", dtype, 80);
      const BufferRef mask = make_buffer("mask", DType::boolean, lanes), out = make_buffer("out", dtype, lanes);
      const Expr all = ramp(0, 1, lanes);
      cases.push_back(
          {make_function("gather",
                         {tensor(in, Direction::in), tensor(index, Direction::in), tensor(out, Direction::out)},
                         store(out, all, load(in, load(index, all)))),
           {edge_bytes(dtype, 80), bytes_of(places), zeros(dtype, lanes)}});
      cases.push_back({make_function("masked",
                                     {tensor(in, Direction::in), tensor(index, Direction::in),
                                      tensor(mask, Direction::in), tensor(out, Direction::out)},
                                     store(out, all, load(in, load(index, all), load(mask, all)))),
                       {edge_bytes(dtype, 80), bytes_of(places), bytes_of(chosen), zeros(dtype, lanes)}});
    }
  }
  check_everywhere(cases);
}

TEST_CASE("masked lanes read nothing, give 0 and write nothing") {
  const std::vector<std::uint8_t> mask_bytes{1, 0, 1, 1, 0, 0, 0, 1};
  std::vector<Case> cases;
  for (const DType dtype : kSome) {
    const BufferRef flags = make_buffer("flags", DType::boolean, 8);
    const BufferRef in = make_buffer("in", dtype, 8), out = make_buffer("out", dtype, 8);
    const Expr all = ramp(0, 1, 8), mask = load(flags, all);
    const Expr tail = all < Broadcast::make(Expr(5), 8);
    const auto add = [&](const char* name, Stmt body) {
      Bytes old(dtype_bytes(dtype) * 8, dtype == DType::boolean ? 1 : 0x33);
      cases.push_back(
          {make_function(name, {tensor(in, Direction::in), tensor(flags, Direction::in), tensor(out, Direction::inout)},
                         std::move(body)),
           {edge_bytes(dtype, 8), bytes_of(mask_bytes), std::move(old)}});
    };
    add("load", store(out, all, load(in, all, mask)));
    add("store", store(out, all, load(in, all), mask));
    add("both", store(out, all, load(in, all, mask), mask));
    add("tail", store(out, all, load(in, all, tail), tail));
    add("strided", store(out, ramp(7, -1, 8), load(in, ramp(7, -1, 8), mask), mask));
    // An index far out of bounds, which only inactive lanes may have.
    const Expr far = select(mask, all, Broadcast::make(Expr(std::int64_t{1} << 28), 8));
    add("guarded", store(out, far, load(in, far, mask), mask));
    const Expr none = Broadcast::make(load(flags, Expr(1)), 8);
    add("uniform",
        store(out, ramp(std::int64_t{1} << 28, 1, 8), load(in, ramp(std::int64_t{1} << 28, 1, 8), none), none));
    add("scalar",
        store(out, Expr(2), load(in, Expr(std::int64_t{1} << 28), load(flags, Expr(1))), load(flags, Expr(0))));
  }
  check_everywhere(cases);
}

TEST_CASE("masked lanes of a local array keep what they had, also in a vector that its end cuts off") {
  const std::vector<std::uint8_t> mask_bytes{1, 0, 1, 1, 0, 0, 0, 1};
  std::vector<Case> cases;
  for (const DType dtype : kSome) {
    const BufferRef flags = make_buffer("flags", DType::boolean, 8), in = make_buffer("in", dtype, 16);
    const BufferRef out = make_buffer("out", dtype, 13), own = make_buffer("own", dtype, 13, Scope::local);
    const Expr all = ramp(0, 1, 8), rest = ramp(8, 1, 8), mask = load(flags, all);
    const Expr tail = all < Broadcast::make(Expr(5), 8);
    const Stmt body =
        Block::make({store(own, all, load(in, rest)), store(own, all, load(in, all), mask),
                     store(own, rest, load(in, all), tail), store(own, rest, load(in, rest), tail && mask),
                     store(out, all, load(own, all, mask)), store(out, rest, load(own, rest, tail), tail)});
    cases.push_back(
        {make_function("own", {tensor(in, Direction::in), tensor(flags, Direction::in), tensor(out, Direction::inout)},
                       Allocate::make(own, body)),
         {edge_bytes(dtype, 16), bytes_of(mask_bytes), zeros(dtype, 13)}});
  }
  check_everywhere(cases);
}

TEST_CASE("the lanes of a vector combine to one, whatever their number") {
  std::vector<Case> cases;
  for (const DType dtype : {DType::f32, DType::f64, DType::i8, DType::u16, DType::i32, DType::i64, DType::boolean}) {
    for (const std::uint32_t lanes : {2u, 3u, 4u, 7u, 16u}) {
      for (const ReduceOp op :
           {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::any, ReduceOp::all}) {
        const bool logic = op == ReduceOp::any || op == ReduceOp::all;
        if (logic != (dtype == DType::boolean)) continue;
        const BufferRef in = make_buffer("in", dtype, lanes), out = make_buffer("out", dtype, 1);
        Case one;
        one.function = make_function("reduce", {tensor(in, Direction::in), tensor(out, Direction::out)},
                                     store(out, Expr(0), VectorReduce::make(op, load(in, ramp(0, 1, lanes)))));
        // Take the values after the edges, which are of similar magnitude.
        Bytes data = edge_bytes(dtype, 64);
        one.arguments = {Bytes(data.end() - static_cast<std::ptrdiff_t>(lanes * dtype_bytes(dtype)), data.end()),
                         zeros(dtype, 1)};
        one.ulps = 64;
        cases.push_back(std::move(one));
      }
    }
  }
  check_everywhere(cases);
}

TEST_CASE("comparing a ramp with a limit gives the right lanes, however far away the limit is") {
  std::vector<Case> cases;
  constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  for (const BinaryOp op : {BinaryOp::lt, BinaryOp::le, BinaryOp::gt, BinaryOp::ge, BinaryOp::eq}) {
    for (const bool ramp_first : {true, false}) {
      for (const std::int64_t limit : {kLowest, std::int64_t{-1}, std::int64_t{0}, std::int64_t{5}, std::int64_t{8},
                                       std::int64_t{9}, std::int64_t{31}, std::int64_t{1} << 40, -(kLowest + 1)}) {
        const BufferRef out = make_buffer("out", DType::boolean, 24);
        const Expr n = Var::make("n"), i = Var::make("i");
        const Expr lanes = Ramp::make(i * Expr(8), Expr(1), 8), end = Broadcast::make(n, 8);
        Case one;
        one.function = make_function(
            "compare", {tensor(out, Direction::out)},
            loop(i, Expr(3), store(out, lanes, Binary::make(op, ramp_first ? lanes : end, ramp_first ? end : lanes))));
        one.function.symbols = {n};
        one.arguments = {zeros(DType::boolean, 24), scalar_bytes(limit)};
        cases.push_back(std::move(one));
      }
    }
  }
  for (const Variant& variant : all_variants()) {
    if (!variant.is_32_bit()) check_on(variant, cases);
  }
}
