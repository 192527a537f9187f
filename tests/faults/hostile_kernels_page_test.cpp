// docs/testing.md lists the kernels that try to look faster than they are, as cheat_lists.cpp does.
// FERRY_UPDATE_GOLDEN=1 writes the list.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/device-runtime/support/cheating_kernels.h"

namespace ferry::test {
namespace {

constexpr const char* kPage = "docs/testing.md";
constexpr const char* kBegin = "<!-- from tests/unit/device-runtime/support/cheat_lists.cpp -->\n";
constexpr const char* kEnd = "<!-- end -->\n";

struct Row {
  const char* outcome;
  const std::vector<Cheat>* cheats;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> rows{
      {"ended by the system, at a call that is not left to the process or at memory that is not the kernel's",
       &stopped_cheats()},
      {"seen: outputs of timed calls that nobody wrote, or that differ from the twin's", &seen_cheats()},
      {"seen or ended: the judge is told too early that a window is over, or it does not listen there",
       &early_cheats()},
      {"ended, since the system holds threads that have stopped; with `pipe`, one of them goes unnoticed",
       &lying_cheats()},
      {"seen: results for other inputs; or as slow as without them", &copying_cheats()},
      {"seen: wrong results of timed calls that are drawn afterwards, or of calls with other inputs between them",
       &inexact_cheats()},
      {"seen, with `--thorough`: wrong results of calls of other sizes between timed ones", &size_cheats()},
      {"as slow as the honest kernel, with the same results", &timed_cheats()},
      {"ended, seen, or as slow as the honest kernel", &breaking_cheats()},
      {"nothing is found", &looking_cheats()}};
  return rows;
}

// Whether it tries the same as another one on another descriptor.
bool is_variant(const Cheat& cheat) {
  const std::string_view name = cheat.function;
  return name[name.size() - 2] == '_' && name.back() > '3' && name.back() <= '8';
}

std::string table() {
  std::size_t all = 0, variants = 0;
  std::string text;
  for (const Row& row : rows()) {
    std::string kernels;
    for (const Cheat& cheat : *row.cheats) {
      ++all;
      if (is_variant(cheat)) {
        ++variants;
        continue;
      }
      kernels += (kernels.empty() ? "`" : "; `") + std::string(cheat.function) + "`: " + cheat.description;
    }
    text += std::string("| ") + row.outcome + " | " + std::to_string(row.cheats->size()) + " | " + kernels + " |\n";
  }
  return "\n" + std::to_string(all) + " kernels, " + std::to_string(variants) +
         " of which try on descriptors 4 to 8 what another one tries on descriptor 3:\n\n"
         "| what becomes of them | kernels | what each tries, or what it computes with |\n| --- | --- | --- |\n" +
         text;
}

TEST_CASE("the page lists the kernels that cheat, and there are at least 40") {
  std::size_t count = 0;
  for (const auto* const cheats : all_cheats()) {
    CHECK(std::ranges::count(rows(), cheats, &Row::cheats) == 1);
    count +=
        static_cast<std::size_t>(std::ranges::count_if(*cheats, [](const Cheat& each) { return !is_variant(each); }));
  }
  CHECK(count >= 40);
  std::ifstream file(kPage);
  REQUIRE(file);
  std::string page(std::istreambuf_iterator<char>(file), {});
  const std::size_t begin = page.find(kBegin), end = page.find(kEnd, begin);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  const std::size_t first = begin + std::string(kBegin).size();
  if (std::getenv("FERRY_UPDATE_GOLDEN") != nullptr) {
    page.replace(first, end - first, table());
    std::ofstream(kPage) << page;
    return;
  }
  CHECK(page.substr(first, end - first) == table());
}

}  // namespace
}  // namespace ferry::test
