// A user-defined intrinsic: a name, the rule for its type, and its expansion, which may differ between targets.
#include "examples/show/show.h"
#include "ferry/intrinsics.h"

using namespace ferry;
using namespace ferry::lang;

int main() {
  const auto context = std::make_shared<Context>();
  context->add_intrinsic("mylog", same_float_types(1));
  context->add_rule("mylog", {.lower = [](const IntrinsicCall& call) { return ir::call_math("log", call.arguments); }});
  // The rule with the highest priority that fits the target applies: without a vector logarithm, it might call C's.
  context->add_rule("mylog", {.arch = "armv7", .priority = 10, .lower = [](const IntrinsicCall& call) {
                                return ir::call_math("log2", call.arguments) *
                                       ir::constant(call.type, 0.6931471805599453);
                              }});

  const Expr n = var("N");
  const Tensor a = placeholder({n}, DType::f32, "A");
  const Tensor b = compute({n}, [&](auto& i) { return context->call("mylog", {a(i[0]) + 2.0f}); }, "B");
  const Program program = make_program("logarithm", {in(a), out(b)}, {}, context);
  schedule::Schedule schedule(program);
  const auto [block, lane] = schedule["B"].split("i0", 32);
  schedule["B"].vectorize(lane);
  return example::show(program, schedule, {{1'000'000}});
}
