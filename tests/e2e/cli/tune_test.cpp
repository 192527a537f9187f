// Tests 'ferry tune' and 'ferry records' as a user would.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/e2e/cli/run_ferry.h"
#include "tests/e2e/cli/terminal.h"
#include "tests/paths.h"
#include "tests/support/model_bytes.h"

using namespace ferry;
using test::Folder;
using test::Outcome;
using test::run_ferry;

namespace {

using Words = std::vector<std::string>;

const char* const kSizes = "M=37,N=64,K=40";

Outcome tune(const Folder& folder, Words more) {
  Words words = {"tune", "-e", test::kMatmul, "--size", kSizes, "--threads", "1", "--records", folder.path("r.jsonl")};
  words.insert(words.end(), more.begin(), more.end());
  return run_ferry(words);
}

std::vector<nlohmann::json> lines_of(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

// Makes a record one of tiles of 1x1 that were confirmed as twice as fast as the default.
void confirm_small_tile(nlohmann::json& record) {
  record["values"][0] = "1x1";
  record.erase("directives");  // the point's would be others
  record["confirmed"] = true;
  record["seconds"] = record["default_seconds"].get<double>() / 2;
  record["interval_95_seconds"] = {record["seconds"], record["seconds"]};
}

}  // namespace

TEST_CASE("tune tries schedules, records them, and says how much faster the best one is") {
  const Folder folder;
  const Outcome outcome = tune(folder, {"--trials", "6", "--processes", "3", "--json"});
  REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
  const std::vector<nlohmann::json> lines = lines_of(outcome.out);
  REQUIRE(lines.size() == 7);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(lines[i].at("schema") == "ferry.trial/1");
    CHECK(lines[i].at("progress").at("points") > 6);
  }
  const nlohmann::json& result = lines.back();
  CHECK(result.at("schema") == "ferry.tuned/1");
  CHECK(result.at("function") == "mm");
  CHECK(result.at("default_seconds") > 0);

  const Outcome again = tune(folder, {"--trials", "3", "--processes", "0"});
  CHECK_MESSAGE(again.out.starts_with("3 of "), again.out);
  CHECK(again.out.find("from earlier runs") != std::string::npos);

  const Outcome listed = run_ferry({"records", "list", folder.path("r.jsonl"), "--json"});
  const auto tasks = nlohmann::json::parse(listed.out).at("tasks");
  REQUIRE(tasks.size() == 1);
  CHECK(tasks[0].at("function") == "mm");
  CHECK(tasks[0].at("sizes") == nlohmann::json{{"K", 40}, {"M", 37}, {"N", 64}});
  CHECK(tasks[0].at("threads") == 1);
  CHECK(run_ferry({"records", "list", folder.path("r.jsonl")}).out.find("K=40,M=37,N=64") != std::string::npos);
  CHECK(run_ferry({"records", "merge", folder.path("r.jsonl"), "-o", folder.path("m.jsonl")}).code == 0);
  CHECK(run_ferry({"records", "prune", folder.path("m.jsonl"), "--keep", "1"}).code == 0);
  CHECK(run_ferry({"records", "list", folder.path("m.jsonl"), "--json"}).out.find("\"trials\": 1") !=
        std::string::npos);
}

TEST_CASE("run and bench take the schedule of a record, compute the same with it, and say so") {
  const Folder folder;
  REQUIRE(tune(folder, {"--trials", "1", "--processes", "0"}).code == 0);
  // The record of the default, as one of another point that was twice as fast.
  auto record = nlohmann::json::parse(test::content_of(folder.path("r.jsonl")));
  const Outcome space = run_ferry({"compile", "-e", test::kMatmul, "--fix", kSizes, "--emit", "space", "--json"});
  const auto decisions = nlohmann::json::parse(space.out).at("functions")[0].at("decisions");
  REQUIRE(decisions[0].at("knobs")[0].at("name") == "tile");
  confirm_small_tile(record);
  const std::string path = folder.file("twice.jsonl", record.dump() + "\n");

  const Words bench = {"bench", "-e", test::kMatmul, "--size", kSizes, "--threads", "1", "--no-peak", "--repeat", "3"};
  Words with = bench;
  with.insert(with.end(), {"--records", path, "--check"});
  const Outcome measured = run_ferry(with);
  CHECK(measured.code == 0);
  CHECK_MESSAGE(measured.err.find("2.00 times as fast as the default") != std::string::npos, measured.err);
  for (const char* other : {"M=38,N=64,K=40"}) {
    Words words = with;
    words[4] = other;
    CHECK(run_ferry(words).err.find("times as fast as the default") == std::string::npos);
  }
  record["confirmed"] = false;
  Words unconfirmed = bench;
  unconfirmed.insert(unconfirmed.end(), {"--records", folder.file("once.jsonl", record.dump() + "\n")});
  CHECK(run_ferry(unconfirmed).err.find("times as fast") == std::string::npos);
  Words none = bench;
  none.insert(none.end(), {"--records", "none"});
  CHECK(run_ferry(none).err.find("times as fast") == std::string::npos);

  // --fix names the sizes that were tuned; the code is that of the point.
  const Words fixed = {"compile", "-e", test::kMatmul, "--fix", kSizes, "--emit", "point"};
  Words tuned = fixed;
  tuned.insert(tuned.end(), {"--records", path});
  // Without a device the number of threads is this machine's, for which nothing was tuned.
  CHECK(run_ferry(tuned).out == run_ferry(fixed).out);
}

TEST_CASE("what was tuned for the sizes of a call is part of modules and exports, and chosen by their sizes") {
  const Folder folder;
  REQUIRE(tune(folder, {"--trials", "1", "--processes", "0"}).code == 0);
  auto record = nlohmann::json::parse(test::content_of(folder.path("r.jsonl")));
  confirm_small_tile(record);
  // Without a device the number of threads is this machine's.
  const auto devices = nlohmann::json::parse(run_ferry({"device", "--json"}).out);
  record["threads"] = devices.at("threads");
  const std::string path = folder.file("twice.jsonl", record.dump() + "\n");
  const std::string kernel = folder.file("mm.tc", test::kMatmul);
  const Words compile = {"compile", kernel, "--size", kSizes, "--emit", "schedule", "--records"};
  const auto schedule_with = [&](const std::string& records) {
    Words words = compile;
    words.push_back(records);
    return run_ferry(words);
  };
  CHECK(schedule_with(path).out.find("def mm_tuned") != std::string::npos);
  CHECK(schedule_with(path).err.find("2.00 times as fast") != std::string::npos);
  CHECK(schedule_with("none").out.find("mm_tuned") == std::string::npos);

  Words exported = {"export", kernel, "--size", kSizes, "-o", folder.path("plain")};
  CHECK(run_ferry(exported).err.find("times as fast") == std::string::npos);
  exported = {"export", kernel, "--size", kSizes, "--records", path, "-o", folder.path("tuned")};
  const Outcome with = run_ferry(exported);
  CHECK_MESSAGE(with.code == 0, with.err);
  CHECK(with.err.find("2.00 times as fast") != std::string::npos);
  CHECK(test::content_of(folder.path("tuned/mm.o")).find("ferry_fn_mm_tuned") != std::string::npos);
  CHECK(test::content_of(folder.path("plain/mm.o")).find("ferry_fn_mm_tuned") == std::string::npos);

  const Outcome best = run_ferry({"records", "best", path});
  CHECK(best.code == 0);
  CHECK(nlohmann::json::parse(best.out).at("values")[0] == "1x1");
  record["confirmed"] = false;
  CHECK(run_ferry({"records", "best", folder.file("once.jsonl", record.dump() + "\n")}).out.empty());
}

TEST_CASE("records verify says what of another version still holds") {
  const Folder folder;
  REQUIRE(tune(folder, {"--trials", "1", "--processes", "0"}).code == 0);
  auto record = nlohmann::json::parse(test::content_of(folder.path("r.jsonl")));
  record["confirmed"] = true;
  record["version"] = "another";
  const std::string path = folder.file("other.jsonl", record.dump() + "\n");
  const std::string kernel = folder.file("mm.tc", test::kMatmul);
  const Words verify = {"records", "verify", kernel, "--records", path, "--threads", "1", "--processes", "3"};
  const Outcome first = run_ferry(verify);
  CHECK_MESSAGE(first.code == 0, first.err);
  CHECK_MESSAGE(first.out.starts_with("mm K=40,M=37,N=64: the same code as before"), first.out);
  Words json = verify;
  json.push_back("--json");
  const auto second = nlohmann::json::parse(run_ferry(json).out);
  CHECK(second.at("schema") == "ferry.verified/1");
  CHECK(second.at("tasks")[0].at("verdict") == "current");
  const std::string other = folder.file("add.tc", "def add(float(N) A) -> (B) { B(i) = A(i) + 1 }");
  CHECK(run_ferry({"records", "verify", other, "--records", path, "--threads", "1"}).out ==
        "no confirmed record is of these kernels and this device\n");
}

TEST_CASE("a suite names the records that its kernels take, and the user's own are not read") {
  const Folder folder;
  REQUIRE(tune(folder, {"--trials", "1", "--processes", "0"}).code == 0);
  auto record = nlohmann::json::parse(test::content_of(folder.path("r.jsonl")));
  confirm_small_tile(record);
  folder.file("tuned.jsonl", record.dump() + "\n");
  folder.file("mm.tc", test::kMatmul);
  const auto gate = [&](const std::string& records) {
    const std::string suite =
        folder.file("suite.toml", "name = \"tuned\"\nthreads = 1\nsamples = 3\n" + records +
                                      "[cases.mm]\nkernel = \"mm.tc\"\nsizes = \"M=37,N=64,K=40\"\n");
    return run_ferry({"gate", suite, "--store", folder.path("store"), "--update", "--accept", "mm"});
  };
  const Outcome plain = gate("");
  CHECK_MESSAGE(plain.err.find("times as fast") == std::string::npos, plain.err);
  const Outcome tuned = gate("records = \"tuned.jsonl\"\n");
  CHECK_MESSAGE(tuned.err.find("2.00 times as fast") != std::string::npos, tuned.err);
  CHECK(tuned.out.find("unchanged") == std::string::npos);
  const Outcome again = gate("records = \"tuned.jsonl\"\n");
  CHECK_MESSAGE(again.out.find("unchanged") != std::string::npos, again.out);
  CHECK(gate("records = \"none.jsonl\"\n").out.find("none.jsonl") != std::string::npos);
}

TEST_CASE("a program in Python decides what tune tries, and the page shows what it found") {
  const Folder folder;
  const std::string schedule =
      "C: split m $rows in {1,2}\nC: split n $columns in {8,16}\nC: reorder m.outer n.outer k m.inner n.inner\n"
      "C: vectorize n.inner\nC: unroll m.inner\n";
  const std::string page = folder.path("page.html");
  const Outcome outcome =
      tune(folder, {"--schedule", folder.file("mm.schedule", schedule), "--processes", "3", "--searcher",
                    "python3 " FERRY_SOURCE_DIR "/examples/tune/hill_climb.py", "--html", page});
  REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
  CHECK_MESSAGE(outcome.err.find("mm has 4 schedules") != std::string::npos, outcome.err);
  CHECK(outcome.err.find("the best is {") != std::string::npos);
  CHECK(test::content_of(page).find("<title>Tuning of mm</title>") != std::string::npos);
  CHECK(test::content_of(page).find("rows=") != std::string::npos);
  const Outcome failed = tune(folder, {"--searcher", "echo hello", "--processes", "0"});
  CHECK(failed.code == 2);
  CHECK(failed.out.find("recorded in") != std::string::npos);
  CHECK(failed.err.find("what was found until then is kept") != std::string::npos);
}

TEST_CASE("tune holds what it found against the device's peaks and the cost model's estimates") {
  const Folder folder;
  const std::string page = folder.path("page.html");
  const Outcome outcome = tune(folder, {"--trials", "8", "--processes", "0", "--html", page, "--json"});
  REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
  const std::string text = test::content_of(page);
  for (const char* part : {"The roofline", "The best schedule reaches ", "id=\"roofline-title\"", "The cost model",
                           "rank correlation of the estimates", "id=\"predictions-title\""})
    CHECK_MESSAGE(text.find(part) != std::string::npos, part);
  const nlohmann::json result = lines_of(outcome.out).back();
  CHECK(result.at("flops") == 2.0 * 37 * 64 * 40);
  CHECK(result.at("bytes") == 4.0 * (37 * 40 + 40 * 64 + 37 * 64));
  const double flops = result.at("peak_flops_per_second"), bytes = result.at("peak_bytes_per_second");
  const double possible = std::min(flops, bytes * result.at("flops").get<double>() / result.at("bytes").get<double>());
  CHECK(result.at("bound_by") == (possible < flops ? "memory" : "arithmetic"));
  CHECK(result.at("share_of_peak").get<double>() ==
        doctest::Approx(result.at("flops").get<double>() / result.at("seconds").get<double>() / possible));
  CHECK(result.at("default_share_of_peak") > 0);
  const Outcome shown = tune(folder, {"--trials", "1", "--processes", "0"});
  CHECK_MESSAGE(
      (shown.out.find("% of peak") != std::string::npos || shown.out.find("% of a copy's rate") != std::string::npos),
      shown.out);
}

TEST_CASE("on a terminal tune shows the best against the default while it searches") {
  const Folder folder;
  const Outcome outcome =
      test::run_on_terminal({"tune", "-e", test::kMatmul, "--size", kSizes, "--threads", "1", "--records",
                             folder.path("r.jsonl"), "--trials", "4", "--processes", "0"},
                            100, {{"TERM", "xterm"}});
  CHECK(outcome.code == 0);
  CHECK_MESSAGE(outcome.out.find("default  ") != std::string::npos, outcome.out);
  CHECK(outcome.out.find("best     ") != std::string::npos);
  CHECK(outcome.out.find(" of 60.0 s, ") != std::string::npos);
}

TEST_CASE("what is wrong with the arguments is said before anything is measured") {
  const Folder folder;
  CHECK(tune(folder, {"--budget", "soon"}).err.find("--budget soon: expected a time such as 30s or 5m") !=
        std::string::npos);
  CHECK(tune(folder, {"--processes", "2"}).err.find("--processes: expected 0, or 3 to 1,000") != std::string::npos);
  const Outcome no_size = run_ferry({"tune", "-e", test::kMatmul, "--records", folder.path("r.jsonl")});
  CHECK(no_size.code == 2);
  const Outcome no_space = run_ferry({"tune", "-e", "def f(float(N) A) -> (B) { B(i) = A(i) along i }", "--size", "N=4",
                                      "--records", folder.path("r.jsonl"), "--trials", "1"});
  CHECK(no_space.code == 2);
  CHECK(run_ferry({"records", "list", folder.path("none.jsonl")}).err.find("there is no such file of records") !=
        std::string::npos);
  CHECK(run_ferry({"bench", "-e", test::kMatmul, "--size", kSizes, "--records", folder.path("none.jsonl")}).code == 2);
}

TEST_CASE("tune searches the kernels of a network, and says what became of each") {
  const Folder folder;
  test::ModelBytes model;
  model.input("x", {"N", 64}).output("y");
  model.initializer(test::tensor("w", test::kFloat, {64, 48}, test::raw<float>(std::vector<float>(64 * 48, 0.5F))));
  model.node("MatMul", {"x", "w"}, {"y"}, {}, "product");
  const Words words = {"tune",        folder.file("net.onnx", model.text()),
                       "--size",      "N=37",
                       "--threads",   "1",
                       "--records",   folder.path("r.jsonl"),
                       "--trials",    "3",
                       "--processes", "3"};
  Words json = words;
  json.insert(json.end(), {"--json", "--html", folder.path("net.html")});
  const Outcome outcome = run_ferry(json);
  REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
  const std::vector<nlohmann::json> lines = lines_of(outcome.out);
  REQUIRE(lines.size() == 4);
  for (std::size_t i = 0; i < 3; ++i) CHECK(lines[i].at("schema") == "ferry.trial/1");
  const nlohmann::json& result = lines.back();
  CHECK(result.at("schema") == "ferry.tuned_network/1");
  REQUIRE(result.at("kernels").size() == 1);
  const nlohmann::json& kernel = result.at("kernels")[0];
  CHECK(kernel.at("nodes") == nlohmann::json{"product"});
  CHECK(kernel.at("state") == "tuned");
  CHECK(kernel.at("trials") == 3);
  CHECK(lines[0].at("function") == kernel.at("kernel"));
  CHECK(test::content_of(folder.path("net.html")).find("Tuning of net") != std::string::npos);
  const Outcome text = run_ferry(words);
  CHECK_MESSAGE(text.out.starts_with("3 points of 1 kernel in "), text.out);
  Words open = words;
  open.push_back("--open");
  CHECK(run_ferry(open).code == 2);
}
