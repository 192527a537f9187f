// Compares what --json prints with docs/json.md: every command names its schema, and every field is on the page, in the
// section of its command.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/e2e/cli/run_ferry.h"
#include "tests/paths.h"
#include "tests/support/listening_server.h"
#include "tests/support/model_bytes.h"

using namespace ferry;
using nlohmann::json;
using test::Folder;
using test::kTwice;
using test::Outcome;
using test::run_ferry;

namespace {

std::string section(const std::string& name) {
  const std::string page = test::content_of(FERRY_SOURCE_DIR "/docs/json.md");
  const std::size_t start = page.find("\n## " + name + "\n");
  REQUIRE_MESSAGE(start != std::string::npos, name);
  return page.substr(start, page.find("\n## ", start + 1) - start);
}

// Adds the names of all fields, except inside of objects whose fields are the user's own names or numbers.
void collect(const json& value, std::set<std::string>& fields) {
  static const std::set<std::string> kOwnNames = {"sizes", "knobs", "percentile_seconds"};
  if (value.is_array())
    for (const json& one : value) collect(one, fields);
  if (!value.is_object()) return;
  for (const auto& [name, one] : value.items()) {
    fields.insert(name);
    if (!kOwnNames.contains(name)) collect(one, fields);
  }
}

// Runs a command, and checks that the page's section has its schema and all of its fields.
json documented(const std::string& name, const std::vector<std::string>& words) {
  CAPTURE(name);
  const Outcome outcome = run_ferry(words);
  CAPTURE(outcome.err);
  REQUIRE(!outcome.out.empty());
  json printed = json::parse(outcome.out);
  const std::string text = section(name);
  CHECK(outcome.out.starts_with("{\n  \"schema\": \"ferry."));
  CHECK_MESSAGE(text.find("`" + printed.at("schema").get<std::string>() + "`") != std::string::npos,
                printed.at("schema"));
  std::set<std::string> fields;
  collect(printed, fields);
  fields.erase("schema");
  for (const std::string& field : fields) CHECK_MESSAGE(text.find("`" + field + "`") != std::string::npos, field);
  return printed;
}

}  // namespace

TEST_CASE("every field that a command prints is documented in its section") {
  const Folder folder;
  const std::string kernel = folder.file("twice.tc", kTwice), module = folder.path("twice.ferry");
  documented("device", {"device", "--json"});
  documented("targets", {"targets", "--json"});
  documented("compile", {"compile", kernel, "-o", module, "--json"});
  documented("compile", {"compile", kernel, "--target", "c", "-o", folder.path("twice.c"), "--json"});
  documented("compile", {"compile", kernel, "--emit", "lower", "--after", "flatten", "--json"});
  documented("export", {"export", kernel, "-o", folder.path("twice"), "--json"});
  documented("inspect", {"inspect", module, "--json"});
  test::ModelBytes network;
  network.input("x", {"N", 2}).node("Relu", {"x"}, {"y"}).output("y");
  documented("inspect", {"inspect", folder.file("net.onnx", network.text()), "--json"});
  documented("diff", {"diff", kernel, "none", "default", "--json"});
  documented("run", {"run", kernel, "--size", "N=4", "--check", "--json"});
  documented("run", {"run", module, "--size", "N=4", "--out", "B=" + folder.path("b.npy"), "--json"});
  const std::string c =
      folder.file("twice.c",
                  "// ferry: twice(in f32[N] A, out f32[N] B)\n"
                  "void twice(const float* A, float* B, long n) { for (long i = 0; i < n; ++i) B[i] = 2 * A[i]; }\n");
  documented("run", {"run", c, "--size", "N=4", "--check-against", c, "--json"});
  documented("check", {"check", kernel, "--size", "N=4", "--json"});
  documented("check", {"check", c, "--size", "N=4", "--check-against", c, "--json"});
  documented("bench", {"bench", kernel, "--size", "N=1000", "--repeat", "5", "--min-repeat-ms", "0.1", "--json"});
  const std::string baseline =
      folder.file("old.json", run_ferry({"bench", kernel, "--size", "N=1000", "--repeat", "5", "--json"}).out);
  documented("bench", {"bench", kernel, "--sweep", "N=10,1000", "--repeat", "5", "--min-repeat-ms", "0.1", "--baseline",
                       baseline, "--json"});
  documented("bench",
             {"bench", kernel, "--size", "N=100", "--repeat", "5", "--min-repeat-ms", "0.1", "--check", "--json"});
  const std::string wrong =
      folder.file("wrong.c",
                  "// ferry: twice(in f32[N] A, out f32[N] B)\n"
                  "void twice(const float* A, float* B, long n) { for (long i = 0; i < n; ++i) B[i] = 3; }\n");
  documented("bench", {"bench", wrong, "--size", "N=4", "--check-against", kernel, "--json"});
  documented("bench", {"bench", wrong, "--size", "N=4", "--check-against", c, "--json"});
  documented("compare", {"compare", kernel, kernel, "--size", "N=1000", "--processes", "3", "--repeat", "5", "--json"});
  documented("ping", {"ping", "--count", "10", "--bytes", "1000", "--json"});
  const test::ListeningServer server(std::string(FERRY_SOURCE_DIR) + "/build/device/x86_64/dynamic/rpc_server", {},
                                     {"--quiet"});
  documented("status", {"status", "-r", server.address(), "--json"});
}

TEST_CASE("every field of tuning and of its records is documented") {
  const Folder folder;
  const std::string records = folder.path("records.jsonl");
  const Outcome tuned = run_ferry({"tune", "-e", kTwice, "--size", "N=5000", "--threads", "1", "--records", records,
                                   "--trials", "4", "--processes", "3", "--json"});
  REQUIRE_MESSAGE(tuned.code == 0, tuned.err);
  const std::string of_tune = section("tune"), of_records = section("records");
  const auto expect_fields = [](const std::string& lines, const std::string& text, const std::string& inner) {
    std::istringstream stream(lines);
    for (std::string line; std::getline(stream, line);) {
      const json printed = json::parse(line);
      CHECK(text.find("`" + printed.at("schema").get<std::string>() + "`") != std::string::npos);
      for (const auto& [name, value] : printed.items())
        CHECK_MESSAGE((name == "schema" || text.find("`" + name + "`") != std::string::npos), name);
      if (!printed.contains(inner)) continue;
      for (const auto& [name, value] : printed.at(inner).items())
        CHECK_MESSAGE(text.find("`" + name + "`") != std::string::npos, name);
    }
  };
  expect_fields(tuned.out, of_tune, "progress");
  expect_fields(test::content_of(records), of_records, "");
  documented("records", {"records", "list", records, "--json"});
}

TEST_CASE("a GPU's module has the fields of its kernels") {
  const Folder folder;
  const std::string module = folder.path("twice.ferry");
  REQUIRE(run_ferry({"compile", "-e", kTwice, "--target", "cuda -arch=sm_80", "-o", module}).code == 0);
  documented("inspect", {"inspect", module, "--json"});
}

TEST_CASE("every field of the gate's history, bisection and calibration is documented") {
  const Folder folder;
  folder.file("twice.tc", kTwice);
  const std::string suite =
      folder.file("suite.toml",
                  "tolerance = \"20%\"\nerror-level = \"40%\"\nsamples = 5\n"
                  "[cases.twice]\nkernel = \"twice.tc\"\nsizes = \"N=4096\"\nallow-difference = true\n");
  const std::string store = folder.path("store");
  for (const char* label : {"good", "bad"}) {
    const Outcome run = run_ferry({"gate", suite, "--store", store, "--label", label, "--accept", "twice"});
    REQUIRE_MESSAGE(run.code == 0, run.err);
    folder.file("twice.tc", "def twice(float(N) A) -> (B) { B(i) = sin(cos(A(i))) }");
  }
  documented("gate", {"gate", "history", "twice", "--suite", suite, "--store", store, "--json"});
  const json bisection =
      documented("gate", {"gate", "bisect", "twice", "good", "bad", "--suite", suite, "--store", store, "--json"});
  CHECK(bisection.at("first_bad") == "bad");
  const json calibration = documented("gate", {"gate", "calibrate", "--tolerance", "20", "--error-level", "40",
                                               "--runs", "1", "--pairs", "4", "--json"});
  CHECK(calibration.at("slowdowns").size() == 5);
}

TEST_CASE("run prints the values of small outputs as numbers") {
  const json floats = json::parse(run_ferry({"run", "-e", kTwice, "--arg", "A=f32[3]:iota", "--json"}).out);
  CHECK(floats.at("outputs").at(0).at("values").dump() == "[0.0,2.0,4.0]");
  const json integers = json::parse(run_ferry({"run", "-e", "def f(uint64(M,N) A) -> (B) { B(i,j) = A(i,j) - 1 }",
                                               "--arg", "A=u64[2,2]:zeros", "--json"})
                                        .out);
  CHECK(integers.at("outputs").at(0).at("values").dump() ==
        "[[18446744073709551615,18446744073709551615],[18446744073709551615,18446744073709551615]]");
  const json special = json::parse(
      run_ferry({"run", "-e", "def f(float(N) A) -> (B) { B(i) = A(i) / 0 }", "--arg", "A=f32[2]:iota", "--json"}).out);
  CHECK(special.at("outputs").at(0).at("values").dump() == R"(["nan","inf"])");
  const json large = json::parse(run_ferry({"run", "-e", kTwice, "--size", "N=1001", "--json"}).out);
  CHECK(!large.at("outputs").at(0).contains("values"));
}
