// Tests 'ferry tune' and 'ferry records' as a user would.
#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/e2e/cli/run_ferry.h"

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
  record["values"][0] = "1x1";
  record["confirmed"] = true;
  record["seconds"] = record["default_seconds"].get<double>() / 2;
  record["interval_95_seconds"] = {record["seconds"], record["seconds"]};
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
