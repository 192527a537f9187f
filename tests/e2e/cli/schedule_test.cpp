#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/e2e/cli/run_ferry.h"

using namespace ferry;
using test::Folder;
using test::Outcome;
using test::run_ferry;

namespace {

const char* const kBlocked =
    "def mm\n"
    "C: split m $rows in {4,8} -> mo mi\n"
    "reorder mo n k mi\n";

void expect_error(const Outcome& outcome, const std::string& message) {
  CHECK(outcome.code == 2);
  CHECK(outcome.err == "ferry: " + message + "\n");
}

}  // namespace

TEST_CASE("--emit schedule prints what ferry decided, and a module compiled from that is the same") {
  const Folder folder;
  const std::string kernel = folder.file("mm.tc", test::kMatmul);
  const Outcome text = run_ferry({"compile", kernel, "--emit", "schedule", "--target", "x86-64-v3"});
  CHECK(text.code == 0);
  CHECK(text.out.starts_with("def mm\n"));
  const std::string schedule = folder.file("mm.schedule", text.out);
  for (const std::string& chosen : {std::string("default"), schedule})
    CHECK(run_ferry({"compile", kernel, "--target", "x86-64-v3", "--schedule", chosen, "-o",
                     folder.path(chosen == schedule ? "b.ferry" : "a.ferry")})
              .code == 0);
  CHECK(test::content_of(folder.path("a.ferry")) == test::content_of(folder.path("b.ferry")));
}

TEST_CASE("--emit space prints what the default schedule was chosen from, as text and as JSON") {
  const std::vector<std::string> emit = {"compile", "-e", test::kMatmul, "--emit", "space", "--target", "x86-64-v3"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), emit.begin(), emit.end());
    return run_ferry(more);
  };
  const Outcome text = with({"--size", "M=512,N=512,K=512"});
  CHECK(text.code == 0);
  CHECK_MESSAGE(text.out.starts_with("def mm: "), text.out);
  CHECK(text.out.find("\nC: blocked_contraction, ") != std::string::npos);
  CHECK(text.out.find("\n  tile rows x vectors: 1x1, ") != std::string::npos);
  CHECK(text.out.find("\n  pack_columns: no, [yes]\n") != std::string::npos);
  CHECK(with({}).out.find("blocked_contraction") == std::string::npos);

  const Outcome data = with({"--json"});
  CHECK(data.code == 0);
  const auto json = nlohmann::json::parse(data.out);
  CHECK(json["stage"] == "space");
  const auto& function = json["functions"].at(0);
  CHECK(function["name"] == "mm");
  std::uint64_t points = 1;
  for (const auto& decision : function["decisions"]) {
    std::uint64_t in_decision = 1;
    for (const auto& knob : decision["knobs"]) {
      CHECK(std::find(knob["candidates"].begin(), knob["candidates"].end(), knob["default"]) !=
            knob["candidates"].end());
      in_decision *= knob["candidates"].size();
    }
    CHECK(decision["points"] == in_decision);
    points *= in_decision;
  }
  CHECK(points > 1);
  CHECK(function["points"] == points);
  expect_error(with({"--schedule", "none"}),
               "--emit space: expected no schedule, because a space is what default schedules choose a point from");
}

TEST_CASE("the default schedule goes by the sizes that are told, and computes the same at others") {
  const Folder folder;
  const std::string kernel = folder.file("mm.tc", test::kMatmul), module = folder.path("mm.ferry");
  const std::vector<std::string> compile = {"compile", kernel, "--size", "M=1024,N=1024,K=1024"};
  std::vector<std::string> shown = compile, made = compile;
  shown.insert(shown.end(), {"--emit", "schedule"});
  made.insert(made.end(), {"-o", module});
  CHECK(run_ferry(shown).out.find("transform_layout") != std::string::npos);
  CHECK(run_ferry({"compile", kernel, "--emit", "schedule"}).out.find("transform_layout") == std::string::npos);
  CHECK(run_ferry(made).code == 0);
  for (const char* sizes : {"M=13,N=70,K=5", "M=1,N=1,K=1", "M=150,N=90,K=130"}) {
    const Outcome ran = run_ferry({"run", module, "--size", sizes, "--check"});
    CHECK_MESSAGE(ran.code == 0, ran.err);
  }
  expect_error(run_ferry({"compile", kernel, "--size", "Q=3", "-o", module}),
               "--size Q: expected a size of the kernel: M, K, N");
}

TEST_CASE("a schedule travels in the module, knobs chosen, and inspect shows it") {
  const Folder folder;
  const std::string kernel = folder.file("mm.tc", test::kMatmul), module = folder.path("mm.ferry");
  const std::string schedule = folder.file("mm.schedule", kBlocked);
  const Outcome compiled = run_ferry({"compile", kernel, "--schedule", schedule, "--knob", "rows=8", "-o", module});
  CHECK_MESSAGE(compiled.code == 0, compiled.err);
  CHECK(run_ferry({"inspect", module})
            .out.ends_with("\nschedule\n"
                           "  def mm\n"
                           "    C: split m 8 -> mo mi\n"
                           "    C: reorder mo n k mi\n"));
  const auto json = nlohmann::json::parse(run_ferry({"inspect", module, "--json"}).out);
  CHECK(json.at("schedule") == "def mm\nC: split m 8 -> mo mi\nC: reorder mo n k mi\n");
  const Outcome ran = run_ferry({"run", module, "--size", "M=13,N=7,K=5", "--check"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
}

TEST_CASE("run and bench take a schedule as text") {
  const std::string text = "split m $rows in {4,8} -> mo mi; reorder mo n k mi";
  const Outcome ran = run_ferry(
      {"run", "-e", test::kMatmul, "--schedule-text", text, "--knob", "rows=4", "--size", "M=13,N=7,K=5", "--check"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.out.find(": fine: ") != std::string::npos);
  const Outcome timed = run_ferry({"bench", "-e", test::kMatmul, "--schedule-text", text, "--knob", "rows=4", "--size",
                                   "M=13,N=7,K=5", "--no-peak", "--repeat", "2", "--min-repeat-ms", "0"});
  CHECK_MESSAGE(timed.code == 0, timed.err);
}

TEST_CASE("sections schedule the functions they name, and ferry the others") {
  const Folder folder;
  const std::string kernel = folder.file("two.tc",
                                         "def one(float(N) A) -> (B) { B(i) = A(i) + 1 }\n"
                                         "def two(float(N) A) -> (B) { B(i) = A(i) + 2 }\n"
                                         "def three(float(N) A) -> (B) { B(i) = A(i) + 3 }\n");
  const std::string schedule = folder.file("two.schedule", "def two\nsplit i 5\n\ndef three\n");
  const auto text = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"compile", kernel, "--emit", "schedule", "--target", "x86-64-v3", "--schedule"});
    return run_ferry(words);
  };
  const Outcome all = text({schedule});
  CHECK_MESSAGE(all.code == 0, all.err);
  CHECK(all.out.starts_with("def one\nB: "));
  CHECK(all.out.ends_with("\n\ndef two\nB: split i 5\n\ndef three\n"));
  CHECK(text({schedule, "--fn", "two"}).out == "def two\nB: split i 5\n");
  const std::string plain = folder.file("plain.schedule", "# rows\nsplit i 5\n");
  CHECK(text({plain, "--fn", "two"}).out == "def two\nB: split i 5\n");
  expect_error(text({plain}), plain + ":2: expected 'def NAME' before the first directive, as the kernel has several " +
                                  "functions ('one', 'two', 'three')");
  const std::string other = folder.file("other.schedule", "def tow\nsplit i 5\n");
  expect_error(text({other}), other + ":1: expected a function of the kernel ('one', 'two', 'three'), got 'tow'; did " +
                                  "you mean 'two'?");
}

TEST_CASE("mistakes around schedules are told with file and line") {
  const Folder folder;
  const std::string kernel = folder.file("mm.tc", test::kMatmul);
  const std::string schedule = folder.file("mm.schedule", kBlocked);
  const std::string wrong = folder.file("wrong.schedule", "# a comment\nC: split mm 4\n");
  const auto compile = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"compile", kernel, "--emit", "lower"});
    return run_ferry(words);
  };
  expect_error(compile({"--schedule", wrong}),
               wrong + ":2: C: split mm 4: expected an axis of 'C' ('m', 'n', 'k'), " + "got 'mm'; did you mean 'm'?");
  // The first choice is the default.
  CHECK(compile({"--schedule", schedule}).out == compile({"--schedule", schedule, "--knob", "rows=4"}).out);
  expect_error(compile({"--schedule", schedule, "--knob", "rows=5"}),
               schedule + ":2: knob '$rows': expected one of {4,8}, got '5'");
  expect_error(compile({"--schedule", schedule, "--knob", "rows"}), "--knob rows: expected NAME=VALUE");
  expect_error(compile({"--knob", "rows=4"}), "--knob rows=4: expected a schedule of your own with this knob");
  expect_error(compile({"--schedule", folder.path("none.schedule")}),
               "cannot read '" + folder.path("none.schedule") + "': No such file or directory");
  expect_error(
      compile({"--schedule", schedule, "--schedule-text", "parallel m"}),
      "expected one schedule, got a text and the file '" + schedule + "' (--schedule FILE or --schedule-text TEXT)");
  const std::string module = folder.path("mm.ferry");
  REQUIRE(run_ferry({"compile", kernel, "-o", module}).code == 0);
  expect_error(run_ferry({"run", module, "--schedule", schedule}),
               module + " is compiled already: expected a kernel's text beside a schedule");
}

TEST_CASE("--after shows the loops after any pass and knows their names") {
  const auto loops = [](const std::string& pass) {
    return run_ferry({"compile", "-e", test::kMatmul, "--emit", "lower", "--target", "x86-64-v3", "--schedule-text",
                      "reorder m k n; split n 8; vectorize n.inner", "--after", pass});
  };
  CHECK(loops("lower").out.find("vectorized for") != std::string::npos);
  CHECK(loops("vectorize").out.find("vectorized for") == std::string::npos);
  const Outcome unknown = loops("vectorise");
  CHECK(unknown.code == 2);
  CHECK(unknown.err.starts_with("ferry: there is no pass 'vectorise'; expected one of: lower, simplify, "));
  CHECK(unknown.err.ends_with("; did you mean 'vectorize'?\n"));
}

TEST_CASE("diff shows what a directive changed, and says by its exit code whether anything did") {
  const Folder folder;
  const std::string kernel = folder.file("mm.tc", test::kMatmul);
  const std::string first = folder.file("1.schedule", "reorder m k n\n");
  const std::string second = folder.file("2.schedule", "reorder m k n\nparallel m\n");
  const Outcome changed = run_ferry({"diff", kernel, first, second});
  CHECK_MESSAGE(changed.code == 1, changed.err);
  CHECK(changed.out.starts_with("--- " + first + "\n+++ " + second + "\n@@ -1,"));
  CHECK(changed.out.find("\n-  for (m = 0; m < M; ++m) {\n+  parallel for (m = 0; m < M; ++m) {\n") !=
        std::string::npos);
  CHECK(changed.out.find('\033') == std::string::npos);
  const Outcome same = run_ferry({"diff", kernel, first, first});
  CHECK(same.code == 0);
  CHECK(same.out.empty());
  const auto json = nlohmann::json::parse(run_ferry({"diff", kernel, "none", second, "--json"}).out);
  CHECK(json.at("same") == false);
  CHECK(json.at("second").at("schedule") == "def mm\nC: reorder m k n\nC: parallel m\n");
  CHECK(json.at("diff").get<std::string>().starts_with("--- none\n"));
  expect_error(run_ferry({"diff", kernel, "none", "default", "--knob", "rows=4"}),
               "--knob rows=4: neither schedule has a knob '$rows'");
}
