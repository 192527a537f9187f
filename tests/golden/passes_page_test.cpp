// Keeps the table of docs/passes.md that of the pipeline. FERRY_UPDATE_GOLDEN=1 rewrites it.
#include <doctest/doctest.h>

#include "crosscompile/passes/pipeline.h"
#include "host/graph/compile/graph_passes.h"
#include "tests/paths.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace {

using namespace ferry;

const char* const kPage = FERRY_SOURCE_DIR "/docs/passes.md";
const std::string kHead = "| pass | for | what it does |\n| --- | --- | --- |\n";
const std::string kGraphHead = "| pass of networks | for | what it does |\n| --- | --- | --- |\n";

std::string group_text(const passes::Pass& pass) {
  if (pass.group == nullptr) return "all";
  if (pass.group == &PassGroups::loops) return "`loops`";
  return pass.group == &PassGroups::gpu ? "`gpu`" : "`scalarize`";
}

std::string group_text(const graph::GraphPass& pass) {
  std::string text = pass.group == nullptr                      ? "all"
                     : pass.group == &GraphPassGroups::float32  ? "`float32`"
                     : pass.group == &GraphPassGroups::integers ? "`integers`"
                                                                : "`blocks`";
  if (pass.algorithm != nullptr)
    text += pass.algorithm == &graph::Algorithms::int8       ? ", `int8`"
            : pass.algorithm == &graph::Algorithms::winograd ? ", `winograd`"
                                                             : ", `float32`";
  return text;
}

template <class Pass>
std::string table(const std::string& head, std::span<const Pass> passes) {
  std::string rows = head;
  for (const Pass& pass : passes) {
    rows += "| `" + std::string(pass.name) + "` | " + group_text(pass) + " | " + std::string(pass.purpose) + " |\n";
  }
  return rows;
}

template <class Pass>
void check_table(const std::string& head, std::span<const Pass> passes) {
  std::ostringstream whole;
  whole << std::ifstream(kPage).rdbuf();
  const std::string page = whole.str();
  const std::size_t begin = page.find(head);
  REQUIRE(begin != std::string::npos);
  std::size_t end = begin;
  while (end < page.size() && page[end] == '|') end = page.find('\n', end) + 1;
  if (std::getenv("FERRY_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(kPage) << page.substr(0, begin) << table(head, passes) << page.substr(end);
    return;
  }
  CHECK(page.substr(begin, end - begin) == table(head, passes));
}

template <class Pass>
void check_purposes(std::span<const Pass> passes) {
  for (const Pass& pass : passes) {
    CAPTURE(pass.name);
    CHECK(!pass.purpose.empty());
    CHECK(pass.purpose.size() <= 160);
    CHECK(pass.purpose.find_first_of("|\n") == std::string_view::npos);
    CHECK(!pass.purpose.ends_with('.'));
  }
}

}  // namespace

TEST_CASE("the tables in docs/passes.md are those of the pipelines") {
  check_table(kHead, passes::pipeline());
  check_table(kGraphHead, graph::graph_passes());
}

TEST_CASE("each pass says in a line what it does") {
  check_purposes(passes::pipeline());
  check_purposes(graph::graph_passes());
}
