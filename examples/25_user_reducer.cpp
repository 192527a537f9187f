// A user-defined reduction: a function that combines two values, and its initial value. Here: the product of each row.
#include "examples/show/show.h"
#include "ferry/lang/user_reducer.h"

using namespace ferry;
using namespace ferry::lang;

int main() {
  const CommReducer product =
      comm_reducer([](auto& left, auto& right) { return std::vector<Expr>{left[0] * right[0]}; },
                   [](auto& types) { return std::vector<Expr>{ir::constant(types[0], 1.0)}; }, "product");
  const Expr m = var("M"), n = var("N");
  const Tensor a = placeholder({m, n}, DType::f32, "A");
  const ReduceAxis k = reduce_axis(n, "k");
  const Tensor p = compute({m}, [&](auto& i) { return product(0.1f * a(i[0], k) + 1.0f, {k}); }, "P");
  const Program program = make_program("row_product", {in(a), out(p)});

  // 16 partial products per row, computed side by side.
  schedule::Schedule schedule(program);
  const auto [outer, lane] = schedule["P"].split("k", 16);
  auto lanes = schedule["P"].rfactor(lane);
  lanes.reorder({"i0", outer, lane}).vectorize(lane).compute_at("P", "i0");
  schedule["P"].parallel("i0");
  return example::show(program, schedule, {{2000, 1000}});
}
