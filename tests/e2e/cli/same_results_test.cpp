// Tests that compare kernels: `ferry compare`, which measures only kernels that compute the same result, and `ferry run
// --check-against`.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/e2e/cli/run_ferry.h"
#include "tests/paths.h"

using namespace ferry;
using test::contains;
using test::Folder;
using test::Outcome;
using test::run_ferry;

namespace {

const char* const kFir = "def fir(float(N) X, float(K) W) -> (Y) { Y(i) +=! X(i+k) * W(k) }\n";
const char* const kHeader =
    "#include <stdint.h>\nvoid filter(const float* X, const float* W, float* Y, int64_t N, int64_t K) {\n";

std::string c_kernel(const std::string& body) { return kHeader + body + "}\n"; }

const std::string kRight = c_kernel(
    "  for (int64_t i = 0; i <= N - K; ++i) {\n    float sum = 0;\n"
    "    for (int64_t k = K; k-- > 0;) sum += X[i + k] * W[k];\n    Y[i] = sum;\n  }\n");

struct Kernels {
  Folder folder;
  std::string fir = folder.file("fir.tc", kFir);
  std::string empty = folder.file("empty.c", c_kernel(""));
  std::string right = folder.file("right.c", kRight);

  Outcome compare(const std::string& a, const std::string& b, std::vector<std::string> more = {},
                  const std::string& processes = "3") const {
    std::vector<std::string> words = {"compare", a,          b,   "--size",    "N=500,K=9", "--processes",
                                      processes, "--repeat", "3", "--threads", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return run_ferry(words);
  }
};

}  // namespace

TEST_CASE("each comparison draws other inputs, and --seed repeats them") {
  const Kernels kernels;
  const auto seed_and_difference = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"--json"};
    words.insert(words.end(), more.begin(), more.end());
    const auto object = nlohmann::json::parse(kernels.compare(kernels.fir, kernels.empty, words).out);
    const auto first = object.at("outputs").at(0).at("first_difference").get<std::string>();
    return std::pair(object.at("seed").get<std::uint64_t>(), first);
  };
  const auto first = seed_and_difference({}), second = seed_and_difference({});
  CHECK(first.first != second.first);
  CHECK(first.second != second.second);
  CHECK(seed_and_difference({"--seed", std::to_string(first.first)}) == first);
}

TEST_CASE("an empty kernel is not called faster: the results differ, and nothing is measured") {
  const Kernels kernels;
  const Outcome outcome = kernels.compare(kernels.empty, kernels.fir);
  CHECK(outcome.code == 1);
  CHECK(outcome.out.empty());
  CHECK_MESSAGE(outcome.err.starts_with("ferry: A and B differ: Y[0] 0 against "), outcome.err);
  CHECK_MESSAGE(contains(outcome.err, " of 492 elements differ); no verdict\n"), outcome.err);
  CHECK_MESSAGE(contains(outcome.err, "random inputs are those of --seed "), outcome.err);
  const Outcome json = kernels.compare(kernels.fir, kernels.empty, {"--json"});
  CHECK(json.code == 1);
  const auto object = nlohmann::json::parse(json.out);
  CHECK(object.at("schema") == "ferry.compare/2");
  CHECK(object.at("outcome") == "results differ");
  CHECK(object.at("slower").is_null());
  CHECK(object.at("outputs").at(0).at("different") > 480);
}

TEST_CASE("kernels that compute the same in another order are measured") {
  const Kernels kernels;
  const Outcome outcome = kernels.compare(kernels.right, kernels.fir);
  CAPTURE(outcome.err);
  CHECK(outcome.code == 0);
  CHECK(
      contains(outcome.out, "\n  results    the same from the same inputs (X: f32 of magnitudes 2^-4 to 2^4, W: f32 "));
  CHECK(contains(outcome.out, "\n  verdict    "));
}

TEST_CASE("the JSON of compare has every output, with keys that docs/json.md lists") {
  const Kernels kernels;
  const Outcome outcome = kernels.compare(kernels.fir, kernels.fir, {"--json"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  const auto result = nlohmann::json::parse(outcome.out);
  REQUIRE(result.at("outputs").size() == 1);
  CHECK(result.at("outputs").at(0).at("different") == 0);
  CHECK(result.at("outputs").at(0).at("elements") == 492);
  const std::string page = test::content_of(FERRY_SOURCE_DIR "/docs/json.md");
  for (const auto& object : {result, result.at("outputs").at(0)}) {
    for (const auto& [key, value] : object.items()) {
      CAPTURE(key);
      CHECK(contains(page, "`" + key + "`"));
    }
  }
}

TEST_CASE("--allow-difference measures whatever two kernels compute, and --rtol says what is the same") {
  const Kernels kernels;
  const Outcome allowed = kernels.compare(kernels.empty, kernels.fir, {"--allow-difference"});
  CHECK(allowed.code == 0);
  CHECK_MESSAGE(contains(allowed.out, "\n  verdict    "), allowed.out);
  CHECK(!contains(allowed.out, "the same from the same inputs"));
  // Its outputs are near enough to zeros in memory, but it does not write them.
  const Outcome near = kernels.compare(kernels.empty, kernels.fir, {"--atol", "1e5"});
  CHECK(near.code == 1);
  CHECK(contains(near.err, "samples did not write all of the outputs; no verdict"));
  CHECK(kernels.compare(kernels.right, kernels.fir, {"--rtol", "0"}).code == 1);
}

TEST_CASE("kernels that cannot be given the same inputs are told what does not fit") {
  const Kernels kernels;
  const std::string other = kernels.folder.file("sum.tc", "def total(float(N) X) -> (S) { S() +=! X(i) }");
  const Outcome outcome = kernels.compare(kernels.fir, other);
  CHECK(outcome.code == 2);
  CHECK_MESSAGE(contains(outcome.err,
                         "A and B cannot be given the same inputs: fir takes in f32[K] W where total takes out f32[] S "
                         "(--allow-difference measures them all the same)"),
                outcome.err);
}

TEST_CASE("--fail-if-slower fails for a slower B alone, and has a code of its own when nobody can tell") {
  const Kernels kernels;
  const std::string slow = kernels.folder.file(
      "slow.c",
      c_kernel("  for (int r = 0; r < 50; ++r)\n    for (int64_t i = 0; i <= N - K; ++i) {\n      float sum = 0;\n"
               "      for (int64_t k = 0; k < K; ++k) sum += X[i + k] * W[k];\n"
               "      ((volatile float*)Y)[i] = sum;\n    }\n"));
  const Outcome slower = kernels.compare(kernels.fir, slow, {"--fail-if-slower", "5"}, "8");
  CHECK(slower.code == 1);
  CHECK(contains(slower.err, "ferry: B is slower than A by 5.00% or more\n"));
  const Outcome faster = kernels.compare(slow, kernels.fir, {"--fail-if-slower", "5"}, "8");
  CHECK_MESSAGE(faster.code == 0, faster.out);
  // For a kernel compared with itself, the interval excludes 0% by chance once in a hundred runs.
  Outcome unknown;
  for (int tries = 0; tries < 3 && unknown.code != 5; ++tries)
    unknown = kernels.compare(kernels.fir, kernels.fir, {"--fail-if-slower", "0", "--seed", std::to_string(tries)});
  CHECK(unknown.code == 5);
  CHECK(contains(unknown.err, "ferry: cannot tell whether B is slower than A by 0% or more\n"));
}

TEST_CASE("run --check-against compares with a definition, or with another kernel on the device") {
  const Kernels kernels;
  const auto run = [&](const std::string& kernel, const std::string& against) {
    return run_ferry({"run", kernel, "--size", "N=500,K=9", "--check-against", against});
  };
  const Outcome right = run(kernels.right, kernels.fir);
  CAPTURE(right.err);
  CHECK(right.code == 0);
  CHECK(contains(right.out, "check Y: fine: all 492 elements"));
  const Outcome wrong = run(kernels.empty, kernels.fir);
  CHECK(wrong.code == 1);
  CHECK(contains(wrong.err, "ferry: wrong result: Y[0] is 0, expected "));
  const Outcome other = run(kernels.fir, kernels.empty);
  CHECK(other.code == 1);
  CHECK_MESSAGE(contains(other.err, "differ: Y[0] "), other.err);
  CHECK(contains(run(kernels.fir, kernels.right).out, "as " + kernels.right + " computes them"));
  const std::string module = kernels.folder.path("fir.ferry");
  REQUIRE(run_ferry({"compile", kernels.fir, "-o", module}).code == 0);
  CHECK(run(kernels.right, module).code == 0);
  CHECK(run(kernels.empty, module).code == 1);
}

TEST_CASE("--thorough finds a kernel that is right at large sizes alone, and passes one that is always right") {
  const Kernels kernels;
  const std::string large =
      kernels.folder.file("large.c", c_kernel("  for (int64_t i = 0; i <= N - K; ++i) {\n    float sum = 0;\n"
                                              "    for (int64_t k = 0; k < K; ++k) sum += X[i + k] * W[k];\n"
                                              "    Y[i] = N < 64 ? 0 : sum;\n  }\n"));
  const auto run = [&](const std::string& kernel, std::vector<std::string> more) {
    more.insert(more.begin(), {"run", kernel, "--size", "N=500,K=9", "--seed", "3"});
    return run_ferry(more);
  };
  CHECK(run(large, {"--check-against", kernels.fir}).code == 0);
  const Outcome wrong = run(large, {"--check-against", kernels.fir, "--thorough"});
  CHECK(wrong.code == 1);
  CHECK_MESSAGE(contains(wrong.err, "ferry: wrong result with random numbers and N=1,K=1: Y[0] is 0, expected "),
                wrong.err);
  CHECK(contains(wrong.out, "check with subnormal numbers: fine: Y: "));
  CHECK(contains(wrong.out, "random inputs are those of --seed 3\n"));
  const Outcome right = run(kernels.right, {"--check-against", kernels.fir, "--thorough"});
  CHECK_MESSAGE(right.code == 0, right.err);
  CHECK(run(kernels.right, {"--thorough"}).code == 2);
}

TEST_CASE("run and check say of which seed their random inputs are") {
  const std::string kernel = "def f(float(N) A) -> (B) { B(i) = 2 * A(i) }";
  for (const char* command : {"run", "check"}) {
    CAPTURE(command);
    const Outcome usual = run_ferry({command, "-e", kernel, "--size", "N=5"});
    CHECK_MESSAGE(contains(usual.out, "random inputs are those of --seed 0\n"), usual.out);
    const Outcome chosen = run_ferry({command, "-e", kernel, "--size", "N=5", "--seed", "7", "--json"});
    CHECK_MESSAGE(contains(chosen.out, "\"seed\": 7,"), chosen.out);
  }
}

TEST_CASE("each check of a kernel that ferry did not compile draws other inputs, and --seed repeats them") {
  const Kernels kernels;
  for (const char* command : {"run", "check"}) {
    CAPTURE(command);
    const auto seed_of = [&](std::vector<std::string> more) {
      more.insert(more.begin(), {command, kernels.right, "--size", "N=50,K=3", "--json"});
      return nlohmann::json::parse(run_ferry(more).out).at("seed").get<std::uint64_t>();
    };
    const std::vector<std::string> checked = {"--check-against", kernels.fir};
    CHECK(seed_of(checked) != seed_of(checked));
    CHECK(seed_of({"--check-against", kernels.fir, "--seed", "7"}) == 7);
  }
}
