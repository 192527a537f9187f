#include "ferry/schedule/module_schedule.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/target/resolve.h"
#include "ferry/lang/text.h"
#include "tests/paths.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace ferry;
using namespace ferry::autoschedule;

namespace {

const char* const kTwo =
    "def one(float(N) A) -> (B) { B(i) = A(i) + 1 }\n"
    "def two(float(N) A) -> (B) { B(i) = A(i) * 2 }\n";

}  // namespace

TEST_CASE("the default schedules of all examples print as text that gives them again") {
  int texts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(FERRY_SOURCE_DIR "/examples")) {
    if (entry.path().extension() != ".tc") continue;
    std::ostringstream source;
    source << std::ifstream(entry.path()).rdbuf();
    const std::vector<lang::Program> programs = lang::parse(source.str(), entry.path().filename().string());
    for (const char* name : {"x86-64-v4", "raspberry-pi-4", "raspberry-pi-4-32bit", "riscv64-v"}) {
      const Target target = resolve_target(name);
      const std::string text = to_text(programs, default_schedules(programs, target));
      CHECK(to_text(programs, replay_module_schedule(programs, {text}, target)) == text);
      ++texts;
    }
  }
  CHECK(texts > 40);
}

TEST_CASE("functions without a section get the default schedule, an empty section serial loops") {
  const std::vector<lang::Program> programs = lang::parse(kTwo, "two.tc");
  const Target target = resolve_target("x86-64-v3");
  const auto schedules = replay_module_schedule(programs, {"# nothing for the first\ndef two\n"}, target);
  CHECK(schedules[0].to_text() == default_schedules(programs, target)[0].to_text());
  CHECK(schedules[1].directives().empty());
}

TEST_CASE("sections share the values of knobs, and lines are counted through the whole text") {
  const std::vector<lang::Program> programs = lang::parse(kTwo, "two.tc");
  const Target target = resolve_target("x86-64-v3");
  const std::string text = "def one\nsplit i $f in {4,8}\n\ndef two\nsplit i $g in {2}\nunroll j\n";
  try {
    (void)replay_module_schedule(programs, {text, {{"f", "8"}, {"g", "2"}}, "two.schedule"}, target);
    FAIL("expected a refusal");
  } catch (const CompileError& error) {
    CHECK(std::string(error.what()) ==
          "two.schedule:6: B: unroll j: expected an axis of 'B' ('i.outer', 'i.inner'), got 'j'");
    CHECK(error.location().file == "two.schedule");
    CHECK(error.location().line == 6);
  }
}

TEST_CASE("knobs of all sections are told, each once with its choices") {
  const std::vector<schedule::Knob> knobs =
      knobs_of({"def one\nsplit i $f in {4,8}\nsplit j $f\ndef two\nsplit i $g in {2}\n"});
  REQUIRE(knobs.size() == 2);
  CHECK(knobs[0].name == "f");
  CHECK(knobs[0].choices == std::vector<std::string>{"4", "8"});
  CHECK(knobs[1].name == "g");
}
