// Keeps docs/schedules.md true: every picture of loops in it is what ferry prints. FERRY_UPDATE_GOLDEN=1 rewrites them.
//
// A block "ferry NAME" holds a kernel, "schedule NAME" directives for it, "loops" the loops that the schedule above it
// makes, "loops NAME" those of the kernel without one. The function's first and last line are left out.
#include <doctest/doctest.h>

#include "crosscompile/ir/printer.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/lang/text.h"
#include "ferry/schedule/module_schedule.h"
#include "host/lower/lower.h"
#include "host/schedule/primitives/primitives.h"
#include "tests/paths.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace ferry;

const char* const kPage = FERRY_SOURCE_DIR "/docs/schedules.md";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string content(const char* path) {
  std::ostringstream whole;
  whole << std::ifstream(path).rdbuf();
  return whole.str();
}

std::string loops(const std::string& kernel, const std::string& directives) {
  const lang::Program program = lang::parse(kernel, "schedules.md").at(0);
  const schedule::Schedule schedule = schedule::Schedule::replay(program, directives);
  const std::vector<std::string> all = lines_of(ir::to_text(passes::simplify(lower::lower(program, schedule))));
  std::string inner;
  for (std::size_t i = 1; i + 1 < all.size(); ++i) inner += all[i].substr(2) + "\n";
  return inner;
}

}  // namespace

TEST_CASE("every picture in docs/schedules.md is what ferry prints") {
  const std::string page = content(kPage);
  std::map<std::string, std::string> kernels;
  std::string kernel, directives, updated, heading;
  int pictures = 0;
  const std::vector<std::string> lines = lines_of(page);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    updated += lines[i] + "\n";
    if (lines[i].starts_with("#")) heading = lines[i];
    if (!lines[i].starts_with("```")) continue;
    std::istringstream words(lines[i].substr(3));
    std::string what, name, body;
    words >> what >> name;
    while (++i < lines.size() && lines[i] != "```") body += lines[i] + "\n";
    CAPTURE(heading);
    if (what == "ferry") kernels[name] = body;
    if (what == "schedule") kernel = name, directives = body;
    if (what == "loops") {
      if (!name.empty()) kernel = name, directives = "";
      REQUIRE(kernels.contains(kernel));
      const std::string now = loops(kernels[kernel], directives);
      if (getenv("FERRY_UPDATE_GOLDEN") == nullptr) CHECK_MESSAGE(now == body, "ferry now prints:\n" << now);
      body = now;
      ++pictures;
    }
    updated += body + "```\n";
  }
  CHECK(pictures > 20);
  if (getenv("FERRY_UPDATE_GOLDEN") != nullptr) std::ofstream(kPage) << updated;
}

TEST_CASE("docs/schedules.md describes every primitive with its usage") {
  const std::string page = content(kPage);
  for (const schedule::Primitive& primitive : schedule::primitives()) {
    CAPTURE(primitive.name);
    CHECK(page.find("\n### " + std::string(primitive.name) + "\n\n    " + primitive.usage + "\n") != std::string::npos);
  }
}
