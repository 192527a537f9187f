// Tests that bench checks a kernel before it measures it: as text, as JSON, as comma-separated values and in JUnit.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/e2e/cli/run_ferry.h"

using namespace ferry;
using nlohmann::json;
using test::contains;
using test::Folder;
using test::kTwice;
using test::Outcome;
using test::run_ferry;

namespace {

// Wrong from the sixth element on.
const char* const kWrong =
    "// ferry: twice(in f32[N] A, out f32[N] B)\n"
    "void twice(const float* A, float* B, long n) { for (long i = 0; i < n; ++i) B[i] = i == 5 ? 7 : 2 * A[i]; }\n";

Outcome quick_bench(const std::vector<std::string>& more) {
  std::vector<std::string> words = {"bench", "--repeat",  "5", "--min-repeat-ms", "0.1", "--warmup-ms",
                                    "0.1",   "--threads", "1", "--no-peak"};
  words.insert(words.end(), more.begin(), more.end());
  return run_ferry(words);
}

struct WrongKernel {
  Folder folder;
  std::string file = folder.file("wrong.c", kWrong), reference = folder.file("twice.tc", kTwice);

  // With N=5 it is right, with N=6 it is wrong.
  Outcome swept(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {file, "--check-against", reference, "--sweep", "N=6,5"};
    words.insert(words.end(), more.begin(), more.end());
    return quick_bench(words);
  }
};

}  // namespace

TEST_CASE("bench --check says how far the result is from the definition, and then measures") {
  const Outcome text = quick_bench({"-e", kTwice, "--size", "N=64", "--check"});
  CAPTURE(text.err);
  CHECK(text.code == 0);
  CHECK(contains(text.out, "\n  median "));
  CHECK(contains(text.out, "\n  check B: fine: all 64 elements; largest error "));
  const json result =
      json::parse(quick_bench({"-e", kTwice, "--size", "N=64", "--check", "--json"}).out).at("results").at(0);
  CHECK(result.at("check").at(0).at("wrong") == 0);
  CHECK(result.at("check").at(0).at("compared") == 64);
  CHECK(
      !json::parse(quick_bench({"-e", kTwice, "--size", "N=64", "--json"}).out).at("results").at(0).contains("check"));
  const Outcome loose = quick_bench({"-e", kTwice, "--size", "N=64", "--check", "--rtol", "0.5", "--json"});
  CHECK(json::parse(loose.out).at("results").at(0).at("check").at(0).at("rtol") == 0.5);
}

TEST_CASE("a kernel that was checked is measured in a session in which nothing has run, with peaks and in sweeps") {
  const Outcome outcome = run_ferry({"bench", "-e", kTwice, "--sweep", "N=64,65", "--check", "--repeat", "5",
                                     "--min-repeat-ms", "0.1", "--warmup-ms", "0.1", "--json"});
  CAPTURE(outcome.err);
  const json results = json::parse(outcome.out).at("results");
  REQUIRE(results.size() == 2);
  for (const json& result : results)
    if (result.at("method").at("isolation") != "none") CHECK(result.at("environment").at("not_isolated") == "");
}

TEST_CASE("a wrong kernel is not measured, and the exit code is 1") {
  const WrongKernel wrong;
  const Outcome text = quick_bench({wrong.file, "--check-against", wrong.reference, "--size", "N=6"});
  CHECK(text.code == 1);
  CHECK(text.out.empty());
  CHECK(contains(text.err, "ferry: this machine: twice, N=6: wrong result, so it was not measured: B[5] is 7"));
  const Outcome alone = quick_bench({wrong.file, "--size", "N=6"});
  CHECK(alone.code == 0);
  const Outcome own = quick_bench({wrong.file, "--size", "N=6", "--check"});
  CHECK(own.code == 2);
  CHECK(contains(own.err,
                 "defines nothing to check it against: expected a kernel that computes the same "
                 "(--check-against FILE)"));
}

TEST_CASE("in a sweep the sizes with a right result are measured, and those with a wrong one are told") {
  const WrongKernel wrong;
  const Outcome text = wrong.swept({});
  CHECK(text.code == 1);
  CHECK(contains(text.out, "\n  sizes      N=5\n"));
  CHECK(!contains(text.out, "N=6"));
  CHECK(contains(text.err, "twice, N=6: wrong result"));
  const Outcome as_json = wrong.swept({"--json"});
  CHECK(as_json.code == 1);
  const json run = json::parse(as_json.out);
  REQUIRE(run.at("results").size() == 1);
  CHECK(run.at("results").at(0).at("sizes").at("N") == 5);
  REQUIRE(run.at("errors").size() == 1);
  const json& error = run.at("errors").at(0);
  CHECK(error.at("code") == "wrong_result");
  CHECK(error.at("sizes").at("N") == 6);
  CHECK(error.at("check").at(0).at("wrong") == 1);
  CHECK(!error.contains("median_seconds"));
}

TEST_CASE("comma-separated values say of each size whether the result is right, and have no times where it is wrong") {
  const WrongKernel wrong;
  const std::string table = wrong.swept({"--csv"}).out;
  CAPTURE(table);
  CHECK(contains(table, ",baseline_ratio,inputs,cache,isolation,check,warnings\n"));
  CHECK(contains(table, "this machine,twice,5,"));
  CHECK(contains(table, ",right,"));
  CHECK(contains(table, "\nthis machine,twice,6,,,,,,,,,,,,,,,wrong,"));
  CHECK(contains(quick_bench({"-e", kTwice, "--size", "N=64", "--csv"}).out, ",,,,"));
}

TEST_CASE("JUnit has a case for each output, and a failure for a wrong one") {
  const WrongKernel wrong;
  const std::string report = wrong.folder.path("bench.xml");
  CHECK(wrong.swept({"--junit", report}).code == 1);
  const std::string xml = test::content_of(report);
  CAPTURE(xml);
  CHECK(contains(xml, "name=\"twice, N=5 on this machine: B as it is defined\""));
  CHECK(contains(xml, "name=\"twice, N=6 on this machine\""));
  CHECK(contains(xml, "<failure message=\"twice, N=6: wrong result"));
  CHECK(contains(xml, "failures=\"1\""));
}
