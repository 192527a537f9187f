#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/e2e/cli/run_ferry.h"

using namespace ferry;
using test::Folder;
using test::Outcome;
using test::run_ferry;

namespace {

using Words = std::vector<std::string>;

const char* const kSizes = "M=130,N=170,K=90";
const char* const kTarget = "x86-64-v3";
const char* const kPoint = "C: tile=2x1, order=rows_outside";

Outcome compile(Words more) {
  Words words = {"compile", "-e", test::kMatmul, "--target", kTarget, "--size", kSizes};
  words.insert(words.end(), more.begin(), more.end());
  return run_ferry(words);
}

}  // namespace

TEST_CASE("a point that ferry prints compiles to the same code, and is printed again") {
  const Folder folder;
  const Outcome by_default = compile({"--emit", "point"});
  CHECK(by_default.code == 0);
  CHECK(by_default.out.starts_with("def mm\nC: tile="));
  const Outcome chosen = compile({"--emit", "point", "--point", kPoint});
  CHECK(chosen.out.starts_with("def mm\nC: tile=2x1, order=rows_outside, depth_block="));
  for (const std::string& point : {by_default.out, chosen.out}) {
    CHECK(compile({"--emit", "point", "--point", point}).out == point);
    CHECK(compile({"--point", point, "-o", folder.path("again.ferry")}).code == 0);
    CHECK(compile(point == by_default.out ? Words{"-o", folder.path("first.ferry")}
                                          : Words{"--point", kPoint, "-o", folder.path("first.ferry")})
              .code == 0);
    CHECK(test::content_of(folder.path("first.ferry")) == test::content_of(folder.path("again.ferry")));
  }
}

TEST_CASE("a space at a point shows what the point takes, as text and as JSON") {
  const Outcome text = compile({"--emit", "space", "--point", kPoint});
  CHECK_MESSAGE(text.out.find("\n  order: [rows_outside], columns_outside\n") != std::string::npos, text.out);
  const auto space = nlohmann::json::parse(compile({"--emit", "space", "--point", kPoint, "--json"}).out);
  const auto& function = space["functions"].at(0);
  CHECK(function["point"].get<std::string>().starts_with("C: tile=2x1, order=rows_outside, "));
  const auto& tile = function["decisions"].at(0)["knobs"].at(0);
  CHECK(tile["chosen"] == nlohmann::json::array({2, 1}));
  CHECK(tile["default"] != tile["chosen"]);
  const auto point = nlohmann::json::parse(compile({"--emit", "point", "--json"}).out);
  CHECK(point["functions"].at(0)["name"] == "mm");
  CHECK(point["functions"].at(0)["point"].get<std::string>().starts_with("C: tile="));
}

TEST_CASE("a mistake in a point says what there is to choose from") {
  const auto refused = [](const Words& more, const std::string& message) {
    const Outcome outcome = compile(more);
    CHECK(outcome.code == 2);
    CHECK_MESSAGE(outcome.err.find(message) != std::string::npos, outcome.err);
  };
  refused({"--point", "D: tile=2x1"}, "--point: expected a stage with knobs (C), got 'D'");
  refused({"--point", "C: tiles=2x1"}, "--point: expected a knob of C (tile, order, ");
  refused({"--point", "C: order=rows"},
          "--point: expected one of rows_outside, columns_outside for order of C, got 'rows'");
  refused({"--point", "tile=2x1"}, "--point: expected STAGE: KNOB=VALUE, got 'tile=2x1'");
  refused({"--point", "C: tile=2x1", "--point", "C: tile=4x1"}, "--point: expected one value for tile of C");
  refused({"--point", kPoint, "--schedule", "none"},
          "--point C: tile=2x1, order=rows_outside: expected the default schedule, which has the knobs, got 'none'");
  refused({"--point", kPoint, "--schedule-text", "parallel m"}, "expected the default schedule");
  const Folder folder;
  const Outcome foreign =
      run_ferry({"compile", folder.file("k.c", "// ferry: k(inout f32[n] y)\n"), "--point", kPoint});
  CHECK(foreign.code == 2);
}

TEST_CASE("a kernel at a point is checked, run, measured, compared and shown") {
  const Folder folder;
  const std::string kernel = folder.file("mm.tc", test::kMatmul), sizes = "M=13,N=70,K=9", point = "C: tile=1x1";
  CHECK(run_ferry({"check", kernel, "--point", point, "--size", sizes}).code == 0);
  CHECK(run_ferry({"run", kernel, "--point", point, "--size", sizes, "--check"}).code == 0);
  const Outcome timed = run_ferry({"bench", kernel, "--point", point, "--size", sizes, "--json", "--no-peak",
                                   "--repeat", "2", "--min-repeat-ms", "0"});
  CHECK_MESSAGE(timed.code == 0, timed.err);
  CHECK(nlohmann::json::parse(timed.out)["results"].at(0)["knobs"]["point"] == point);
  const Words pair = {"compare", kernel, kernel, "--size", sizes, "--point-b"};
  Words fine = pair, wrong = pair;
  fine.insert(fine.end(), {point, "--processes", "3"});
  CHECK(run_ferry(fine).code == 0);
  wrong.push_back("D: tile=1x1");
  const Outcome refused = run_ferry(wrong);
  CHECK(refused.code == 2);
  CHECK(refused.err.find("--point-b: expected a stage with knobs (C), got 'D'") != std::string::npos);
  CHECK(run_ferry({"diff", kernel, "default", "default", "--point-a", point, "--point-b", point}).code == 0);
  CHECK(run_ferry({"diff", kernel, "default", "default", "--point-b", point}).code == 1);
  const Outcome none = run_ferry({"diff", kernel, "default", "none", "--point-b", point});
  CHECK(none.code == 2);
  CHECK(none.err.find("expected the default schedule, which has the knobs, got 'none'") != std::string::npos);
}
