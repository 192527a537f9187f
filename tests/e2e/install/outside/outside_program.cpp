// A program of the language that a user builds in C++, with operators, an intrinsic and a schedule of its own.
#include <ferry/ferry.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace {

bool check(const char* what, bool right) {
  if (!right) fprintf(stderr, "outside_program: %s\n", what);
  return right;
}

// max(A * B, 0), with the maximum in vectors and the product computed where they need it.
bool check_schedule(const ferry::Device& device) {
  using namespace ferry::lang;
  const Expr m = var("M"), k = var("K"), n = var("N");
  const Tensor a = placeholder({m, k}, ferry::DType::f32, "A"), b = placeholder({k, n}, ferry::DType::f32, "B");
  const Tensor product = ferry::ops::matmul(a, b, "C");
  const Tensor positive = ferry::ops::relu(product, "D");
  const Program program = make_program("positive_product", {in(a), in(b), out(positive)});
  ferry::schedule::Schedule schedule(program);
  auto stage = schedule[positive];
  const auto [outer, inner] = stage.split("i1", 8);
  stage.vectorize(inner).parallel("i0");
  schedule["C"].compute_at("D", outer);
  const ferry::CompiledModule module = ferry::compile(program, schedule, ferry::target_of(device));
  bool right = check("the functions of a module", module.functions() == std::vector<std::string>{"positive_product"});
  right &= check("the schedule of a module", module.schedule().find("vectorize i1.inner") != std::string::npos);
  const ferry::Function function = device.load(module)["positive_product"];
  right &=
      check("a signature", function.signature() == "positive_product(in f32[M,K] A, in f32[K,N] B, out f32[M,N] D)");
  const std::vector<float> left = {1, 2, 3, -4}, ones = {1, 0, 0, 1};
  const ferry::DeviceTensor result = function(ferry::view(left, {2, 2}), ferry::view(ones, {2, 2}));
  right &= check("its results", result.to_vector<float>() == std::vector<float>{1, 2, 3, 0});
  try {
    stage.split("nowhere", 8);
    right = check("a directive about no loop is refused", false);
  } catch (const ferry::Error& error) {
    right &= check(error.what(), error.code() == ferry::ErrorCode::invalid_argument);
  }
  return right;
}

// A function with a rule of its own for each target.
bool check_intrinsic(const ferry::Device& device) {
  using namespace ferry::lang;
  const auto context = std::make_shared<ferry::Context>();
  context->add_intrinsic("squared", ferry::same_float_types(1));
  context->add_rule("squared", {.lower = [](const ferry::IntrinsicCall& call) {
                      return ferry::ir::let("x", call.arguments[0], [](const Expr& x) { return x * x; });
                    }});
  const Expr n = var("N");
  const Tensor a = placeholder({n}, ferry::DType::f32, "A");
  const Tensor b = compute({n}, [&](auto& i) { return context->call("squared", {a(i[0]) + 1}); }, "B");
  const Program program = make_program("squares", {in(a), out(b)}, {}, context);
  const ferry::Function squares = device.load(ferry::compile(program, ferry::target_of(device)))[program.name];
  return check("an intrinsic", squares(std::vector<float>{0, 1, 2}).to_vector<float>() == std::vector<float>{1, 4, 9});
}

}  // namespace

int main() try {
  const ferry::Device device = ferry::local_device();
  bool right = check_schedule(device);
  right &= check_intrinsic(device);
  return right ? 0 : 1;
} catch (const std::exception& error) {
  fprintf(stderr, "outside_program: %s\n", error.what());
  return 1;
}
