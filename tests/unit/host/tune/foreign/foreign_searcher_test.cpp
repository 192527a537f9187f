// Tests the exchange with programs that search, friendly and hostile ones.
#include "host/tune/foreign/foreign_searcher.h"

#include "host/tune/search/search.h"

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <vector>

#include <unistd.h>

using namespace ferry;
using tune::ForeignSearcher;
using tune::PointResult;
using tune::PointValues;

namespace {

// Two knobs: C.rows of 1, 2 or 4, and C.unroll.
std::optional<SpacePoint> space(const PointValues& values) {
  SpacePoint point{.text = {}, .knobs = {}, .points = 6, .schedule = {}};
  point.knobs = {{"C", "rows", {"1", "2", "4"}, 1, 1, true}, {"C", "unroll", {"no", "yes"}}};
  for (const auto& [name, value] : values) {
    bool is_known = false;
    for (PointKnob& knob : point.knobs)
      for (std::size_t c = 0; c < knob.candidates.size(); ++c)
        if (tune::knob_name(knob) == name && knob.candidates[c] == value) {
          knob.chosen = c;
          is_known = true;
        }
    if (!is_known) return std::nullopt;
  }
  return point;
}

// A searcher with this shell script, and what it does.
class Run {
 public:
  explicit Run(const std::string& script, const std::optional<tune::KnownBest>& best = {})
      : searcher_(script, {"mm", {{"M", 37}}, {"M"}, "x86_64", "znver4", 4}, best, space) {
    searcher_.start([this] {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
  }

  // Waits for the next point, or for the program's end.
  std::optional<SpacePoint> next() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < end) {
      if (auto point = searcher_.next()) return point;
      if (!searcher_.is_thinking()) return std::nullopt;
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, std::chrono::milliseconds(5));
    }
    return std::nullopt;
  }
  std::string failure() {
    while (next()) {
    }
    return searcher_.failure();
  }
  ForeignSearcher& operator*() { return searcher_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  ForeignSearcher searcher_;
};

std::vector<std::string> values(const std::optional<SpacePoint>& point) {
  REQUIRE(point.has_value());
  return values_in_order(*point);
}

struct File {
  std::string name = "/tmp/ferry_foreign_" + std::to_string(getpid());
  ~File() { unlink(name.c_str()); }
  std::vector<nlohmann::json> lines() const {
    std::vector<nlohmann::json> all;
    std::ifstream stream(name);
    for (std::string line; std::getline(stream, line);) all.push_back(nlohmann::json::parse(line));
    return all;
  }
};

}  // namespace

TEST_CASE("a program is told of the task, proposes points, and gets what came of each") {
  const File heard;
  Run run("read a; echo \"$a\" > " + heard.name + "; read b; echo \"$b\" >> " + heard.name +
              "; echo '{\"points\":[{\"C.rows\":4},{\"C.unroll\":\"yes\"},{\"C.rows\":\"3\"}]}'; "
              "for i in 1 2 3; do read c; echo \"$c\" >> " +
              heard.name + "; done",
          tune::KnownBest{*space({{"C.rows", "1"}}), 0.8});
  const auto start = run.next();
  CHECK(values(start) == std::vector<std::string>{"2", "no"});
  (*run).report(*start, {2.5, {}});
  const auto first = run.next(), second = run.next();
  CHECK(values(first) == std::vector<std::string>{"4", "no"});
  CHECK(values(second) == std::vector<std::string>{"2", "yes"});
  (*run).report(*first, {1.5, {}});
  (*run).report(*second, {{}, "wrong"});
  CHECK(run.failure().empty());
  const std::vector<nlohmann::json> lines = heard.lines();
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].at("schema") == "ferry.search/1");
  CHECK(lines[0].at("task").at("function") == "mm");
  CHECK(lines[0].at("task").at("sizes") == nlohmann::json{{"M", 37}});
  CHECK(lines[0].at("space").at("points") == 6);
  CHECK(lines[0].at("space").at("knobs")[0] ==
        nlohmann::json{{"name", "C.rows"}, {"candidates", {"1", "2", "4"}}, {"default", "2"}, {"is_ordered", true}});
  CHECK(lines[0].at("best").at("point").at("C.rows") == "1");
  CHECK(lines[0].at("best").at("share_of_default") == 0.8);
  CHECK(lines[1] == nlohmann::json{{"point", nlohmann::json::object()},
                                   {"seconds", 2.5},
                                   {"values", {{"C.rows", "2"}, {"C.unroll", "no"}}}});
  CHECK(lines[2] == nlohmann::json{{"point", {{"C.rows", "3"}}}, {"failed", "refused"}});
  CHECK(lines[3].at("point") == nlohmann::json{{"C.rows", 4}});
  CHECK(lines[3].at("seconds") == 1.5);
  CHECK(lines[4].at("failed") == "wrong");
}

TEST_CASE("a point that is asked for again, or was tried in an earlier run, is answered and not tried") {
  const File heard;
  Run run(
      "read a; read b; echo '{\"points\":[{\"C.rows\":4},{\"C.rows\":4,\"C.unroll\":\"no\"},{\"C.rows\":1}]}'; "
      "for i in 1 2 3; do read c; echo \"$c\" >> " +
      heard.name + "; done");
  (*run).report(*space({{"C.rows", "1"}}), {3.5, {}});
  const auto start = run.next();
  (*run).report(*start, {2.5, {}});
  const auto only = run.next();
  (*run).report(*only, {1.5, {}});
  CHECK_FALSE(run.next());
  std::vector<double> seconds;
  for (const nlohmann::json& line : heard.lines()) seconds.push_back(line.at("seconds"));
  CHECK(seconds == std::vector<double>{3.5, 1.5, 1.5});
}

TEST_CASE("the end of the program ends the search once its points are tried") {
  Run run("read a; echo '{\"points\":[{\"C.rows\":4}]}'");
  CHECK(run.next());
  CHECK(values(run.next()) == std::vector<std::string>{"4", "no"});
  CHECK_FALSE(run.next());
  CHECK((*run).failure().empty());
}

TEST_CASE("a program that fails, or writes something else than points, ends the search with the reason") {
  const auto failure = [](const std::string& script) { return Run(script).failure(); };
  CHECK(failure("exit 3") == "the searcher: it failed with status 3");
  CHECK(failure("/nowhere/searcher 2> /dev/null") == "the searcher: it failed with status 127");
  CHECK(failure("kill -9 $$") == "the searcher: it was ended by signal 9");
  CHECK(failure("echo hello; sleep 20") == "the searcher: line 1: expected {\"points\":[...]}, got hello");
  CHECK(failure("echo '{\"points\":[]}'; echo '{\"points\":4}'; sleep 20") ==
        "the searcher: line 2: expected {\"points\":[...]}, got {\"points\":4}");
  CHECK(failure("echo '{\"points\":[4]}'").starts_with("the searcher: line 1: expected points such as"));
  CHECK(failure("echo '{\"points\":[{\"C.rows\":[1]}]}'") ==
        "the searcher: line 1: expected a text as the value of C.rows");
}

TEST_CASE("what a program may write and leave unread is bounded") {
  const auto failure = [](const std::string& script) { return Run(script).failure(); };
  CHECK(failure("yes x | tr -d '\\n'").find("expected lines of at most 1048576 bytes") != std::string::npos);
  CHECK(failure("printf '{\"points\":['; for i in $(seq 5000); do printf '{},'; done; printf '{}]}\\n'; sleep 20")
            .find("expected at most 4,096 points in a line, got 5,001") != std::string::npos);
  CHECK(failure("printf '{\"points\":[{\"C.rows\":\"'; head -c 300 /dev/zero | tr '\\0' 1; echo '\"}]}'; sleep 20")
            .find("at most 256 bytes") != std::string::npos);
}

TEST_CASE("a program that goes on after the search is ended") {
  const auto start = std::chrono::steady_clock::now();
  {
    Run run("trap '' TERM; read a; read b; sleep 60; sleep 60");
    CHECK(run.next());
  }
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
}
