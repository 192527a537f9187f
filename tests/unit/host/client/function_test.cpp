// Tests of calls through the C++ interface against a real server: which calls are refused before a kernel runs, and the
// messages.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "ferry/compile.h"
#include "ferry/lang/text.h"
#include "tests/support/crashing_module.h"

using namespace ferry;

namespace {

const char* const kKernels =
    "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }\n"
    "def scale(float(N) A, float s, int8 shift) -> (B) { B(i) = A(i) * s + shift }\n"
    "def ends(float(N) A) -> (L, H) { L() min=! A(i)  H() max=! A(i) }\n"
    "def two(float(N+M) A, float(N) B, float(M) C) -> (D) { D(i) = A(i) + B(0) + C(0) where i in 0:N }\n";

Error refusal(const Function& function, const std::vector<Argument>& arguments) {
  try {
    function.call(arguments);
  } catch (const Error& error) {
    return error;
  }
  return {ErrorCode::ok, "nothing was refused"};
}

Device device_with_lines() {
  ConnectOptions options;
  options.source_line = source_line;
  return local_device(options);
}

struct Fixture {
  Device device = device_with_lines();
  Module module = device.load(compile(kKernels, target_of(device)));
  std::vector<float> six = std::vector<float>(6, 1.0f);

  std::string text(const char* function, const std::vector<Argument>& arguments) const {
    const Error error = refusal(module[function], arguments);
    CHECK(error.code() == ErrorCode::invalid_argument);
    return error.what();
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a wrong number of arguments is told with the signature") {
  const std::string mm = "mm(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)";
  CHECK(text("mm", {view(six, {2, 3})}) == mm + ": expected 2 arguments (or 3 with the outputs), got 1");
  CHECK(text("mm", {}) == mm + ": expected 2 arguments (or 3 with the outputs), got 0");
  CHECK(text("ends", {six, six}) ==
        "ends(in f32[N] A, out f32[] L, out f32[] H): expected 1 arguments (or 3 with the outputs), got 2");
}

TEST_CASE_FIXTURE(Fixture, "a wrong dtype, rank or shape names the argument") {
  const std::vector<double> doubles(6);
  CHECK(text("mm", {view(doubles, {2, 3}), view(six, {3, 2})}) ==
        "mm: argument 1 'A': expected f32[M,K], got f64[2,3]");
  CHECK(text("mm", {view(six, {6}), view(six, {3, 2})}) == "mm: argument 1 'A': expected f32[M,K], got f32[6]");
  CHECK(text("mm", {view(six, {2, 3}), view(six, {3, 2}), device.empty(DType::f32, {3, 2})}) ==
        "mm: argument 3 'C': expected f32[2,2], got f32[3,2]");
}

TEST_CASE_FIXTURE(Fixture, "a view is of as many elements as there are, so that nothing beside them is read") {
  CHECK_THROWS_WITH_AS(view(six, {3, 4}), "a view of f32[3,4]: expected 12 elements, got 6", Error);
  CHECK_THROWS_WITH_AS(view(six, {5}), "a view of f32[5]: expected 5 elements, got 6", Error);
  CHECK_THROWS_AS(view(six, {std::int64_t{1} << 40, std::int64_t{1} << 40}), Error);
  CHECK_THROWS_AS(view(six, {-2, -3}), Error);
  CHECK(view(std::span<const float>(six), {3, 2}).shape == Shape{3, 2});
  CHECK(view(std::vector<float>(), {0, 7}).data == nullptr);
}

TEST_CASE_FIXTURE(Fixture, "a size that two arguments give differently is refused") {
  CHECK(text("mm", {view(six, {2, 3}), view(six, {2, 3})}) == "mm: argument 2 'B': expected f32[3,3], got f32[2,3]");
  CHECK(text("two", {view(six, {6}), view(std::vector<float>(3), {3}), view(std::vector<float>(2), {2})}) ==
        "two: argument 1 'A': expected f32[5], got f32[6]");
}

TEST_CASE_FIXTURE(Fixture, "numbers and tensors are not taken for each other, and numbers must fit") {
  CHECK(text("mm", {5, view(six, {3, 2})}).find("mm: ") == 0);
  CHECK(text("scale", {six, six, 1}) == "scale: argument 2 's': expected a number of f32, got a tensor");
  CHECK(text("scale", {six, 1.0f, 300}) == "scale: argument 3 'shift': expected a number that fits i8, got 300");
  CHECK(text("scale", {six, 1.0f, 1.5}).find("scale: argument 3 'shift': expected a number that fits i8, got 1.5") ==
        0);
}

TEST_CASE_FIXTURE(Fixture, "elements without a shape must leave no choice") {
  CHECK(text("mm", {six, six}).find("the arguments do not say what ") != std::string::npos);
  CHECK(text("mm", {view(six, {2, 3}), std::vector<float>(7)}).find("mm: ") == 0);
}

TEST_CASE_FIXTURE(Fixture, "names that are not there are told with those that are") {
  try {
    module["nn"];
    FAIL("expected an Error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::not_found);
    CHECK(std::string(error.what()) == "this module has no function 'nn'; expected one of: mm, scale, ends, two");
  }
}

TEST_CASE_FIXTURE(Fixture, "several outputs come from call(), and the only one from the function itself") {
  const std::vector<DeviceTensor> both = module["ends"].call({std::vector<float>{3, 1, 2}});
  REQUIRE(both.size() == 2);
  CHECK(both[0].to_vector<float>() == std::vector<float>{1});
  CHECK(both[1].to_vector<float>() == std::vector<float>{3});
  CHECK_THROWS_WITH_AS(module["ends"](six), "ends has 2 outputs: expected call({...}) for it", Error);
}

TEST_CASE_FIXTURE(Fixture, "a refused call leaves the session as it was") {
  text("mm", {view(six, {2, 3}), view(six, {2, 3})});
  CHECK(module["mm"](view(six, {2, 3}), view(six, {3, 2})).to_vector<float>() == std::vector<float>(4, 3.0f));
}

TEST_CASE_FIXTURE(Fixture, "a module that was loaded and never called leaves the session as it was") {
  device.load(compile("def never(float(N) A) -> (B) { B(i) = 3 * A(i) }", target_of(device)));
  CHECK_NOTHROW(device.synchronize());
}

TEST_CASE_FIXTURE(Fixture, "a kernel that leaves its memory ends the session, and the error says which and how") {
  const Module crashing = device.load(CompiledModule(test::crashing_module(target_of(device))));
  const Error error = refusal(crashing["astray"], {six});
  CHECK(error.code() == ErrorCode::kernel_crashed);
  const std::string expected = "astray: the kernel ended the session with SIGSEGV (bad memory access) after ";
  CHECK(std::string(error.what()).substr(0, expected.size()) == expected);
  const Error later = refusal(module["mm"], {view(six, {2, 3}), view(six, {3, 2})});
  CHECK(later.code() == ErrorCode::kernel_crashed);
  CHECK(std::string(later.what()) == error.what());
  const Device next = local_device();
  CHECK(next.filled(DType::f32, {1}, FillKind::ones).to_vector<float>() == std::vector<float>{1});
}

TEST_CASE_FIXTURE(Fixture, "with debug information the error names the line that crashed") {
  auto lines = std::make_shared<ir::SourceLines>();
  lines->file = "astray.tc";
  lines->line = 3;
  lines->stores["B"] = 7;
  const Module crashing = device.load(CompiledModule(test::crashing_module(target_of(device), lines)));
  const std::string said = refusal(crashing["astray"], {six}).what();
  CAPTURE(said);
  CHECK(said.ends_with(" (astray.tc:7)"));
}

TEST_CASE_FIXTURE(Fixture, "a client without a compiler names no line") {
  auto lines = std::make_shared<ir::SourceLines>();
  lines->file = "astray.tc";
  lines->line = 3;
  const Device plain = local_device();
  const Module crashing = plain.load(CompiledModule(test::crashing_module(target_of(plain), lines)));
  const std::string said = refusal(crashing["astray"], {six}).what();
  CHECK_MESSAGE(said.find("astray.tc") == std::string::npos, said);
}

TEST_CASE_FIXTURE(Fixture, "of several modules that are loaded the one that crashed is named") {
  const auto lines = [](const char* file) {
    auto made = std::make_shared<ir::SourceLines>();
    made->file = file;
    made->line = 2;
    return made;
  };
  const Module first = device.load(CompiledModule(test::crashing_module(target_of(device), lines("first.tc"))));
  const Module second = device.load(CompiledModule(test::crashing_module(target_of(device), lines("second.tc"))));
  const Module third = device.load(CompiledModule(test::crashing_module(target_of(device), lines("third.tc"))));
  first.wait();
  third.wait();
  const std::string said = refusal(second["astray"], {six}).what();
  CHECK_MESSAGE(said.ends_with(" (second.tc:2)"), said);
}

TEST_CASE("programs with lines compute the same, in parallel loops too") {
  const std::string source =
      "def two(float(M,K) A,\n        float(K,N) B) -> (C, D) {\n  C(m,n) +=! A(m,k) * B(k,n)\n  D(m,n) = 2 * "
      "C(m,n)\n}\n";
  const Device device = local_device();
  const std::vector<lang::Program> programs = lang::parse(source, "two.tc", true);
  REQUIRE(programs[0].lines != nullptr);
  CHECK(programs[0].lines->line == 1);
  CHECK(programs[0].lines->stores.at("D") == 4);
  const Module module = device.load(compile(programs, target_of(device), source));
  const std::vector<float> ones(200 * 200, 1.0f);
  const auto outputs = module["two"].call({view(ones, {200, 200}), view(ones, {200, 200})});
  CHECK(outputs[1].to_vector<float>() == std::vector<float>(200 * 200, 400.0f));
}
