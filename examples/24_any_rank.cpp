// One definition for tensors of any rank: the text notation names each index, C++ takes all indices as one value.
#include "examples/show/show.h"

using namespace ferry;
using namespace ferry::lang;

Program add(std::size_t rank) {
  std::vector<Expr> shape;
  for (std::size_t d = 0; d < rank; ++d) shape.push_back(var("N" + std::to_string(d)));
  const Tensor a = placeholder(shape, DType::f32, "A"), b = placeholder(shape, DType::f32, "B");
  const Tensor c = compute(shape, [&](auto& index) { return a(index) + b(index); }, "C");
  return make_program("add_" + std::to_string(rank) + "d", {in(a), in(b), out(c)});
}

int main() {
  int wrong = 0;
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{1000, 1000}, {4, 64, 56, 56}}) {
    const Program program = add(shape.size());
    schedule::Schedule schedule(program);
    const auto [block, lane] = schedule["C"].split("i" + std::to_string(shape.size() - 1), 16);
    schedule["C"].vectorize(lane).parallel("i0");
    wrong |= example::show(program, schedule, {shape, shape});
  }
  return wrong;
}
