#include "crosscompile/passes/simplify/simplify.h"

#include "crosscompile/ir/printer.h"
#include "ferry/operators.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

BufferRef buffer(const char* name, DType dtype, const Expr& size) {
  auto made = std::make_shared<Buffer>();
  made->name = name;
  made->dtype = dtype;
  made->shape = {size};
  return made;
}

}  // namespace

TEST_CASE("data beside sizes may be large, and what is computed of both may wrap") {
  const Expr n = Var::make("n"), i = Var::make("i");
  const BufferRef numbers = buffer("X", DType::i64, n);
  const Expr data = Load::make(numbers, {Expr(0)});
  const Stmt body = Store::make(buffer("A", DType::f32, n), {Expr(0)}, Expr(1.0f));
  const auto stays = [&](const Expr& condition) {
    const Stmt loop = For::make(i, 0, n, ForKind::serial, If::make(condition, body));
    return to_text(simplify(loop, {n >= 0})).find("if (") != std::string::npos;
  };
  for (const Expr& condition :
       {max(n, data) * 4 > 0, max(i, data) * 2 >= 0, max(i, data) + 1 > i, select(data > 0, n, data) + 1 > n - n,
        min(n, data) - 1 < n, (max(n, data) + 1) / 2 >= 0, i * (std::int64_t{1} << 40) >= 0})
    CHECK(stays(condition));
  for (const Expr& condition :
       {max(n, data) >= 0, min(n, data) <= n, data % (n + 1) >= 0, i * 1000000 >= 0, max(n, i) * 4 >= 0})
    CHECK_FALSE(stays(condition));
}
