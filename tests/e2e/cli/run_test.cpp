#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/client/npy/npy.h"
#include "tests/e2e/cli/run_ferry.h"

using namespace ferry;
using test::Folder;
using test::Outcome;
using test::run_ferry;

namespace {

const char* const kTwice = "def twice(float32(N) A) -> (B) { B(i) = 2 * A(i) }";

void write_floats(const std::string& path, const std::vector<std::int64_t>& shape, const std::vector<float>& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(float));
  memcpy(bytes.data(), values.data(), bytes.size());
  npy::write(path, DType::f32, shape, bytes);
}

std::vector<float> read_floats(const std::string& path) {
  const npy::Array array = npy::read(path);
  std::vector<float> values(array.bytes.size() / sizeof(float));
  memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

}  // namespace

TEST_CASE("a kernel compiled for fixed sizes takes these alone, and its module keeps them") {
  const Folder folder;
  const Outcome compile = run_ferry({"compile", "-e", kTwice, "--fix", "N=3", "-o", folder.path("twice.ferry")});
  CAPTURE(compile.err);
  CHECK(compile.code == 0);
  CHECK(compile.out.find("twice(in f32[3] A, out f32[3] B)") != std::string::npos);
  const Outcome outcome = run_ferry({"run", folder.path("twice.ferry"), "--arg", "A=:iota", "--check"});
  CAPTURE(outcome.err);
  CHECK(outcome.code == 0);
  CHECK(outcome.out.starts_with("B = f32[3]\n[0. 2. 4.]\n"));
  CHECK(run_ferry({"run", folder.path("twice.ferry"), "--fix", "N=3"}).err ==
        "ferry: --fix N=3: expected a kernel in ferry's own notation, got " + folder.path("twice.ferry") + "\n");
}

TEST_CASE("a kernel given on the command line runs with nothing set up") {
  const Outcome outcome = run_ferry({"run", "-e", kTwice, "--arg", "A=f32[5]:iota"});
  CAPTURE(outcome.err);
  CHECK(outcome.code == 0);
  CHECK(outcome.out.starts_with("B = f32[5]\n[0. 2. 4. 6. 8.]\ntwice: "));
  CHECK(outcome.out.ends_with(" on this machine\n"));
  CHECK(outcome.err.empty());
}

TEST_CASE("a kernel comes from a file or from stdin") {
  const Folder folder;
  const std::string file = folder.file("twice.tc", kTwice);
  for (const Outcome& outcome : {run_ferry({"run", file, "--arg", "A=f32[2]:ones"}),
                                 run_ferry({"run", "-", "--arg", "A=f32[2]:ones"}, kTwice)}) {
    CAPTURE(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(outcome.out.starts_with("B = f32[2]\n[2. 2.]\n"));
  }
}

TEST_CASE("inputs come from .npy files and outputs go to them") {
  const Folder folder;
  write_floats(folder.path("a.npy"), {2, 3}, {1, 2, 3, 4, 5, 6});
  write_floats(folder.path("b.npy"), {3, 2}, {1, 0, 0, 1, 1, 1});
  const Outcome outcome = run_ferry({"run", "-e", test::kMatmul, "--arg", "A=@" + folder.path("a.npy"), "--arg",
                                     "B=@" + folder.path("b.npy"), "--out", "C=@" + folder.path("c.npy")});
  CAPTURE(outcome.err);
  CHECK(outcome.code == 0);
  CHECK(outcome.out.starts_with("C = f32[2,2] in " + folder.path("c.npy") + "\n"));
  CHECK(read_floats(folder.path("c.npy")) == std::vector<float>{4, 5, 10, 11});
}

TEST_CASE("sizes alone are enough, and --check compares every element of a small result") {
  const Outcome outcome = run_ferry({"run", "-e", test::kMatmul, "--size", "M=33,N=47", "--size", "K=65", "--check"});
  CAPTURE(outcome.err);
  CHECK(outcome.code == 0);
  CHECK(outcome.out.find("C = f32[33,47]\n") == 0);
  CHECK(outcome.out.find("check C: fine: all 1,551 elements; largest error ") != std::string::npos);
  CHECK(outcome.out.find(" relative, allowed 1e-07 + 1e-06 * |expected| + 5.87 times the rounding of its terms "
                         "(square-root bound)\n") != std::string::npos);
  CHECK(outcome.out.find("check with A: odd integers of 12 bits; B: -1, 0, 1: fine: C: 1,551 elements, all to the last "
                         "bit\n") != std::string::npos);
}

TEST_CASE("--check of a large result compares all elements with its compiled definition") {
  const Outcome outcome = run_ferry({"run", "-e", test::kMatmul, "--size", "M=512,N=512,K=512", "--check", "--json"});
  CAPTURE(outcome.err);
  CHECK(outcome.code == 0);
  const auto json = nlohmann::json::parse(outcome.out);
  const auto& check = json.at("check").at(0);
  CHECK(check.at("elements") == 262144);
  CHECK(check.at("compared") == 262144);
  CHECK(check.at("wrong") == 0);
}

TEST_CASE("--check of a large result whose definition has to be evaluated takes a random sample and says so") {
  const char* source = "def mm(double(M,K) A, double(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
  const Outcome outcome = run_ferry({"run", "-e", source, "--size", "M=512,N=512,K=512", "--check", "--json"});
  CAPTURE(outcome.err);
  CHECK(outcome.code == 0);
  const auto json = nlohmann::json::parse(outcome.out);
  const auto& check = json.at("check").at(0);
  CHECK(check.at("elements") == 262144);
  CHECK(check.at("compared") >= 1000);
  CHECK(check.at("compared") < 262144);
  CHECK(check.at("wrong") == 0);
}

TEST_CASE("a result beyond the tolerance is exit code 1 and names an element") {
  // The result is not representable as a float: the reference rounds it once, the kernel several times.
  const char* source = "def mean(float32(N) A) -> (B) { S() +=! exp(A(i))\n B(i) = exp(A(i)) / S() }";
  const Outcome outcome = run_ferry({"run", "-e", source, "--size", "N=1000", "--check", "--rtol", "0", "--atol", "0"});
  CHECK(outcome.code == 1);
  CHECK(outcome.err.starts_with("ferry: wrong result: B["));
  CHECK(outcome.out.find(" of 1,000 elements wrong; largest error ") != std::string::npos);
  CHECK(outcome.out.find("allowed 0 + 0 * |expected|\n") != std::string::npos);
}

TEST_CASE("integers, bools and scalars go in and out") {
  const Outcome integers = run_ferry({"run", "-e", "def scale(int32(N) A, int32 s) -> (B) { B(i) = A(i) * s - 1 }",
                                      "--arg", "A=i32[4]:iota", "--arg", "s=-3", "--check"});
  CAPTURE(integers.err);
  CHECK(integers.code == 0);
  CHECK(integers.out.starts_with(
      "B = i32[4]\n[ -1  -4  -7 -10]\ncheck B: fine: all 4 elements; largest error 0 absolute"));
  const Outcome bools =
      run_ferry({"run", "-e", "def big(int32(N) A) -> (B) { B(i) = A(i) > 1 }", "--arg", "A=i32[3]:iota"});
  CAPTURE(bools.err);
  CHECK(bools.out.starts_with("B = bool[3]\n[False False  True]\n"));
}

TEST_CASE("the same seed gives the same result, another one another") {
  const std::vector<std::string> words = {"run", "-e", kTwice, "--size", "N=4", "--json"};
  std::vector<std::string> other = words;
  other.insert(other.end(), {"--seed", "7"});
  const auto text = [](const Outcome& outcome) {
    return nlohmann::json::parse(outcome.out).at("outputs").at(0).at("text").get<std::string>();
  };
  CHECK(text(run_ferry(words)) == text(run_ferry(words)));
  CHECK(text(run_ferry(words)) != text(run_ferry(other)));
}

TEST_CASE("--json says what ran where and for how long") {
  const Outcome outcome = run_ferry({"run", "-e", kTwice, "--arg", "A=f32[2]:ones", "--json"});
  const auto json = nlohmann::json::parse(outcome.out);
  CHECK(json.at("function") == "twice");
  CHECK(json.at("device") == "this machine");
  CHECK(json.at("outputs").at(0).at("shape") == std::vector<std::int64_t>{2});
  CHECK(json.at("outputs").at(0).at("text") == "[2. 2.]");
  CHECK(json.at("seconds").get<double>() > 0);
  CHECK(json.at("compile_ms").get<double>() > 0);
  CHECK(json.at("module_bytes").get<int>() > 0);
}

TEST_CASE("a large output is not printed") {
  const Outcome outcome = run_ferry({"run", "-e", kTwice, "--size", "N=1001"});
  CHECK(outcome.code == 0);
  CHECK(std::count(outcome.out.begin(), outcome.out.end(), '\n') == 3);
}

TEST_CASE("a cold run of a small kernel, from process start to exit, stays under 200 ms") {
  std::vector<double> seconds;
  for (int i = 0; i < 7; ++i) seconds.push_back(run_ferry({"run", "-e", kTwice, "--arg", "A=f32[5]:iota"}).seconds);
  std::sort(seconds.begin(), seconds.end());
  MESSAGE("median " << seconds[3] * 1e3 << " ms, fastest " << seconds[0] * 1e3 << " ms");
#if defined(__SANITIZE_ADDRESS__)
  CHECK(seconds[0] < 2.0);
#else
  CHECK(seconds[0] < 0.2);
#endif
}
