#include "crosscompile/analysis/access_stride.h"

#include "crosscompile/ir/printer.h"
#include "ferry/operators.h"
#include "tests/unit/crosscompile/analysis/evaluate.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::analysis;
using namespace ferry::analysis_test;

namespace {

// Returns the stride when it is the same at every point.
std::optional<std::int64_t> measured(const Expr& index, const Expr& var, const std::vector<Expr>& variables) {
  std::optional<std::int64_t> stride;
  bool is_same = true;
  over_all(variables, -5, 5, [&](Values& at) {
    const std::int64_t here = evaluate(index, at);
    ++at[var.get()];
    const std::int64_t grown = evaluate(index, at) - here;
    --at[var.get()];
    is_same = is_same && (!stride || *stride == grown);
    stride = grown;
  });
  return is_same ? stride : std::nullopt;
}

BufferRef matrix(std::vector<Expr> strides = {}) {
  auto made = std::make_shared<Buffer>();
  made->shape = {Expr(64), Expr(64)};
  made->strides = std::move(strides);
  return made;
}

}  // namespace

TEST_CASE("the stride of an index is the difference of neighbouring points, or unknown") {
  const Expr i = Var::make("i"), j = Var::make("j"), n = Var::make("n");
  struct Case {
    Expr index;
    bool is_found;
  };
  const std::vector<Case> cases = {
      {i, true},
      {j, true},
      {i * 3 + j, true},
      {(i + j) * 4 - i, true},
      {i + i, true},
      {(i << Expr(2)) + n, true},
      {n - i * 2, true},
      {j / 2 + n % 3 + i, true},
      {i * j - i * (j - 1), true},
      {i * n, false},
      {i / 2, false},
      {i % 4 + j, false},
      {min(i, j), false},
      {i * i, false},
  };
  for (const Case& one : cases) {
    const std::optional<std::int64_t> stride = stride_along(one.index, i);
    CHECK_MESSAGE(stride.has_value() == one.is_found, to_text(one.index));
    CHECK_MESSAGE(stride == measured(one.index, i, {i, j, n}), to_text(one.index));
  }
}

TEST_CASE("a load steps by the stride of its last index, in tensors whose rows are contiguous") {
  const Expr i = Var::make("i"), j = Var::make("j");
  const BufferRef a = matrix();
  CHECK(access_stride(*Load::make(a, {j, j}).as<Load>(), i) == analysis::AccessStride::none);
  CHECK(access_stride(*Load::make(a, {j, i}).as<Load>(), i) == analysis::AccessStride::contiguous);
  CHECK(access_stride(*Load::make(a, {j, i * 2}).as<Load>(), i) == analysis::AccessStride::small);
  CHECK(access_stride(*Load::make(a, {j, i * 4 + 1}).as<Load>(), i) == analysis::AccessStride::small);
  CHECK(access_stride(*Load::make(a, {j, i * 5}).as<Load>(), i) == analysis::AccessStride::strided);
  CHECK(access_stride(*Load::make(a, {j, Expr(9) - i}).as<Load>(), i) == analysis::AccessStride::strided);
  CHECK(access_stride(*Load::make(a, {i, j}).as<Load>(), i) == analysis::AccessStride::strided);
  CHECK(access_stride(*Load::make(a, {i, i}).as<Load>(), i) == analysis::AccessStride::strided);
  CHECK(access_stride(*Load::make(matrix({Expr(1), Expr(64)}), {j, i}).as<Load>(), i) ==
        analysis::AccessStride::strided);
  CHECK(access_stride(*Load::make(matrix({Expr(80), Expr(1)}), {j, i}).as<Load>(), i) ==
        analysis::AccessStride::contiguous);
}
