// Tests of planning a call: which sizes follow, what the inputs are, and what is refused.
#include "host/kernel/call_plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "ferry/kernel/option_error.h"
#include "host/client/npy/npy.h"
#include "host/kernel/compile_kernel.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/kernel/text_file.h"

using namespace ferry;

namespace {

const std::string kMm = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }\n";

FunctionInfo function(const std::string& text) {
  KernelOptions options;
  options.expression = text;
  return function_of(read_kernel(test::own_compiler(), options), "");
}

CallOptions call(std::vector<std::string> arguments, std::vector<std::string> sizes = {}) {
  CallOptions options;
  options.arguments = std::move(arguments);
  options.sizes = std::move(sizes);
  return options;
}

}  // namespace

TEST_CASE("shapes follow from sizes, from the arguments' shapes, and from both") {
  const FunctionInfo mm = function(kMm);
  const CallPlan by_size = plan_call(mm, call({}, {"M=2,N=3", "K=4"}));
  CHECK(by_size.shapes == std::vector<Shape>{{2, 4}, {4, 3}, {2, 3}});
  CHECK(traffic_bytes(mm, by_size.shapes) == 4 * (8 + 12 + 6));
  CHECK(plan_call(mm, call({"A=f32[2,4]", "B=f32[4,3]"})).shapes == by_size.shapes);
  CHECK(plan_call(mm, call({"A=f32[2,4]"}, {"N=3"})).shapes == by_size.shapes);
}

TEST_CASE("sizes that are missing, contradict each other or are unknown are refused") {
  const FunctionInfo mm = function(kMm);
  CHECK_THROWS_AS(plan_call(mm, call({}, {"M=2,N=3"})), OptionError);
  CHECK_THROWS_WITH_AS(plan_call(mm, call({"A=f32[2,4]"}, {"M=5,N=3"})), "M=5: the arguments say that M is 2",
                       OptionError);
  CHECK_THROWS_WITH_AS(plan_call(mm, call({}, {"M=2,N=3,K=4,Q=1"})),
                       "Q=1: mm has no size 'Q'; expected one of: M, K, N", OptionError);
}

TEST_CASE("arguments that the function does not have, or of another kind, are refused") {
  const FunctionInfo mm = function(kMm);
  CHECK_THROWS_WITH_AS(plan_call(mm, call({"X=f32[2]"})), "X=f32[2]: mm has no input 'X'; expected one of: A, B",
                       OptionError);
  CHECK_THROWS_WITH_AS(plan_call(mm, call({"C=f32[2,3]"})), "C=f32[2,3]: C is an output, which ferry makes itself",
                       OptionError);
  CHECK_THROWS_WITH_AS(plan_call(mm, call({"A=f32[2,4]", "A=f32[2,4]"})),
                       "A=f32[2,4]: expected one value for A, got a second one", OptionError);
  CHECK_THROWS_WITH_AS(plan_call(mm, call({"A=5"})),
                       "A=5: expected a tensor for A of mm(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)", OptionError);
  const FunctionInfo scale = function("def scale(float(N) A, float s) -> (B) { B(i) = A(i) * s }");
  CHECK_THROWS_WITH_AS(plan_call(scale, call({}, {"N=3"})),
                       "s: expected s=NUMBER for scale(in f32[N] A, in f32 s, out f32[N] B)", OptionError);
}

TEST_CASE("the seed decides the random inputs, each of which has its own") {
  const FunctionInfo mm = function(kMm);
  CallOptions options = call({}, {"M=3,N=3,K=3"});
  const CallPlan first = plan_call(mm, options), again = plan_call(mm, options);
  CHECK(first.host_copy(0) == again.host_copy(0));
  CHECK(first.host_copy(0) != first.host_copy(1));
  options.seed = 7;
  CHECK(first.host_copy(0) != plan_call(mm, options).host_copy(0));
}

TEST_CASE("a tensor of a file gives contents and shape") {
  const test::Folder folder;
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  std::vector<std::uint8_t> bytes(values.size() * sizeof(float));
  memcpy(bytes.data(), values.data(), bytes.size());
  npy::write(folder.path("a.npy"), DType::f32, Shape{2, 3}, bytes);
  const FunctionInfo mm = function(kMm);
  const CallPlan plan = plan_call(mm, call({"A=@" + folder.path("a.npy")}, {"N=1"}));
  CHECK(plan.shapes.front() == Shape{2, 3});
  CHECK(plan.host_copy(0) == bytes);
  const std::vector<std::uint8_t> doubles(6 * 8);
  npy::write(folder.path("f64.npy"), DType::f64, Shape{2, 3}, doubles);
  CHECK_THROWS_WITH_AS(plan_call(mm, call({"A=@" + folder.path("f64.npy")}, {"N=1"})),
                       ("A=@" + folder.path("f64.npy") +
                        ": expected elements of f32 for A, got f64 in the file: convert them before they are saved")
                           .c_str(),
                       OptionError);
  CHECK_THROWS_AS(plan_call(mm, call({"A=@" + folder.path("none.npy")}, {"N=1"})), UsageError);
}

TEST_CASE("the arguments on a device hold what the plan says of them, and large uploads are told") {
  const FunctionInfo scale = function("def scale(float(N) A, float(N) X, float s) -> (B) { B(i) = A(i) * X(i) * s }");
  const test::Folder folder;
  std::vector<std::uint8_t> bytes(4u << 20, 0);
  npy::write(folder.path("x.npy"), DType::f32, Shape{1 << 20}, bytes);
  const CallPlan plan = plan_call(scale, call({"A=:iota", "X=@" + folder.path("x.npy"), "s=2.5"}));
  std::vector<std::string> steps;
  Observer observer;
  observer.step = [&](const std::string& what) {
    steps.push_back(what);
    return StepGuard();
  };
  const Device device = local_device();
  const std::vector<Argument> arguments = make_arguments(scale, plan, device, observer);
  REQUIRE(arguments.size() == 3);
  CHECK(std::get<DeviceTensor>(arguments[0].value()).to_vector<float>()[1000] == 1000);
  CHECK(std::get<DeviceTensor>(arguments[1].value()).shape() == Shape{1 << 20});
  CHECK(std::get<Argument::Scalar>(arguments[2].value()) == Argument::Scalar(2.5));
  CHECK(steps == std::vector<std::string>{"uploading X, 4.00 MiB"});
}

TEST_CASE("an input below a size of the kernel is drawn on this side, and differs with the seed") {
  const FunctionInfo gather = function("def g(float(N,D) E, int(L) I) -> (O) { O(l,d) = E(I(l), d) where l in 0:L }\n");
  CallOptions options = call({"I=:below(N)"}, {"N=5,D=2,L=400"});
  const CallPlan plan = plan_call(gather, options);
  std::vector<std::int32_t> indices(400);
  REQUIRE(plan.host_copy(1).size() == 1600);
  std::memcpy(indices.data(), plan.host_copy(1).data(), 1600);
  CHECK(*std::min_element(indices.begin(), indices.end()) == 0);
  CHECK(*std::max_element(indices.begin(), indices.end()) == 4);
  options.seed = 1;
  CHECK(plan_call(gather, options).host_copy(1) != plan.host_copy(1));
  options = call({"I=i32[4]:below(Q)"}, {"N=5,D=2"});
  CHECK_THROWS_WITH_AS(plan_call(gather, options),
                       "I=i32[4]:below(Q): 'Q' is neither a number nor a size of the kernel", UsageError);
}

TEST_CASE("all places of a strided input are drawn") {
  const FunctionInfo twice = function("def twice(float(N) A strides(s)) -> (B) { B(i) = 2 * A(i) }\n");
  const CallPlan plan = plan_call(twice, call({"A=f32[4]:uniform(2,3)", "s=3"}));
  CHECK(plan.contents[0].bytes.size() == 10 * sizeof(float));
}
