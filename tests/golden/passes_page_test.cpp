// Keeps the table of docs/passes.md that of the pipeline. FERRY_UPDATE_GOLDEN=1 rewrites it.
#include <doctest/doctest.h>

#include "crosscompile/passes/pipeline.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace {

using namespace ferry;

const char* const kPage = FERRY_SOURCE_DIR "/docs/passes.md";
const std::string kHead = "| pass | for | what it does |\n| --- | --- | --- |\n";

std::string group_text(const passes::Pass& pass) {
  if (pass.group == nullptr) return "all";
  if (pass.group == &PassGroups::loops) return "`loops`";
  return pass.group == &PassGroups::gpu ? "`gpu`" : "`scalarize`";
}

std::string table() {
  std::string rows = kHead;
  for (const passes::Pass& pass : passes::pipeline()) {
    rows += "| `" + std::string(pass.name) + "` | " + group_text(pass) + " | " + std::string(pass.purpose) + " |\n";
  }
  return rows;
}

}  // namespace

TEST_CASE("the table in docs/passes.md is that of the pipeline") {
  std::ostringstream whole;
  whole << std::ifstream(kPage).rdbuf();
  const std::string page = whole.str();
  const std::size_t begin = page.find(kHead);
  REQUIRE(begin != std::string::npos);
  std::size_t end = begin;
  while (end < page.size() && page[end] == '|') end = page.find('\n', end) + 1;
  if (std::getenv("FERRY_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(kPage) << page.substr(0, begin) << table() << page.substr(end);
    return;
  }
  CHECK(page.substr(begin, end - begin) == table());
}

TEST_CASE("each pass says in a line what it does") {
  for (const passes::Pass& pass : passes::pipeline()) {
    CAPTURE(pass.name);
    CHECK(!pass.purpose.empty());
    CHECK(pass.purpose.size() <= 160);
    CHECK(pass.purpose.find_first_of("|\n") == std::string_view::npos);
    CHECK(!pass.purpose.ends_with('.'));
  }
}
