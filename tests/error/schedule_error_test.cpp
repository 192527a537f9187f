// Each file holds one mistake: schedule/NAME.schedule begins with "# kernel NAME", the function of schedule/kernels.tc
// that it applies to, optionally followed by "# knob NAME=VALUE"; it ends with "# expect MESSAGE", the whole message.
// FERRY_UPDATE_GOLDEN=1 writes the current messages.
#include "tests/paths.h"
#include "tests/support/examples.h"

#include <doctest/doctest.h>

#include "crosscompile/ir/error.h"
#include "ferry/lang/text.h"
#include "ferry/schedule/module_schedule.h"
#include "host/lower/lower.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

const std::filesystem::path kFolder = FERRY_SOURCE_DIR "/tests/error/schedule";
const std::string kExpect = "# expect ";

std::vector<std::filesystem::path> mistakes() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder))
    if (entry.path().extension() == ".schedule") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string refusal(const std::string& text, const std::string& file) {
  using namespace ferry;
  const std::vector<lang::Program> programs = lang::parse(ferry::test::text_of(kFolder / "kernels.tc"), "kernels.tc");
  const std::vector<std::string> kernel = ferry::test::lines_of(text, "kernel");
  REQUIRE(kernel.size() == 1);
  const auto program =
      std::find_if(programs.begin(), programs.end(), [&](const auto& p) { return p.name == kernel[0]; });
  REQUIRE(program != programs.end());
  ScheduleText schedule{text, {}, file};
  for (const std::string& knob : ferry::test::lines_of(text, "knob"))
    schedule.knobs[knob.substr(0, knob.find('='))] = knob.substr(knob.find('=') + 1);
  try {
    const auto schedules = autoschedule::replay_module_schedule(std::span(&*program, 1), schedule, Target{});
    (void)lower::lower(*program, schedules[0]);
  } catch (const CompileError& error) {
    return error.what();
  }
  return "the schedule was accepted";
}

}  // namespace

TEST_CASE("each mistake in a schedule is told with its place and what was expected") {
  REQUIRE(mistakes().size() > 40);
  for (const std::filesystem::path& path : mistakes()) {
    const std::string name = path.filename().string();
    CAPTURE(name);
    const std::string text = ferry::test::text_of(path);
    const std::size_t at = text.rfind(kExpect);
    const std::string got = refusal(text, name);
    if (getenv("FERRY_UPDATE_GOLDEN") != nullptr) {
      std::ofstream(path) << text.substr(0, at) << kExpect << got << "\n";
      continue;
    }
    REQUIRE(at != std::string::npos);
    const std::size_t start = at + kExpect.size();
    CHECK(got == text.substr(start, text.find('\n', start) - start));
  }
}
