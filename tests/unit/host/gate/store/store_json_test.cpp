// Tests that texts of a store are read only if they are what a store writes.
#include "host/gate/store/store_json.h"

#include <doctest/doctest.h>

#include <random>

#include "tests/unit/host/gate/store/store_fixture.h"

namespace ferry::gate {
namespace {

TEST_CASE("texts that are no baselines are refused with a reason of a bounded length") {
  const std::string hash(64, 'a');
  const auto entry = [&](const std::string& stored, const std::string& more = "") {
    return "{\"case\": \"a\", \"target\": \"b\", \"module\": \"" + hash + "\", \"identity\": \"" + hash +
           "\", \"blobs\": [], \"label\": \"\", \"stored\": " + stored + more + "}";
  };
  const auto cases = [](const std::string& entries) { return "{\"format\": 1, \"cases\": [" + entries + "]}"; };
  REQUIRE(parse_baseline(cases(entry("5"))).is_ok());
  std::string keys = "{\"a\": 1";
  for (int i = 0; i < 100'000; ++i) keys += ",\"k" + std::to_string(i) + "\": 1";
  const std::pair<std::string, std::string> bad[] = {
      {cases(entry("5") + "," + entry("6")), "expected each case once for a target, got a for b again"},
      {cases(entry("5", ", \"stored\": 6")), "expected each key once, got \"stored\" again"},
      {cases(entry("1e300")), "expected a whole number from 0 to"},
      {cases(entry("5.5")), "expected a whole number from 0 to"},
      {cases(entry("-1")), "expected a whole number from 0 to"},
      {cases(entry("18446744073709551615")), "expected a whole number from 0 to"},
      {cases(entry("253402300800")), "expected a whole number from 0 to"},
      {cases(entry("true")), "expected a whole number from 0 to"},
      {"{\"format\": 4294967297, \"cases\": []}", "expected format 1, got 4294967297"},
      {std::string(1 << 20, '['), "expected at most 16 levels of values, got more"},
      {std::string(1 << 20, '\x1b'), "parse error"},
      {keys + "}", "expected at most 64 keys, got more"},
      {"\"" + std::string(1 << 20, 'x'), "parse error"},
  };
  for (const auto& [text, reason] : bad) {
    CAPTURE(text.substr(0, 300));
    const Status refused = parse_baseline(text).status();
    CHECK_MESSAGE(contains(refused.message(), reason), refused.message());
    CHECK(refused.message().size() < 2000);
    CHECK_FALSE(contains(refused.message(), "\x1b"));
  }
}

TEST_CASE("a verdict of an earlier version, without the method of its times, has the method that these had") {
  std::string line = history_line(entry_of("mm", 1));
  line.resize(line.find(",\"method\""));
  const Result<HistoryEntry> entry = parse_history_line(line + "}");
  REQUIRE_MESSAGE(entry.is_ok(), entry.status().message());
  CHECK(entry.value() == entry_of("mm", 1));
  HistoryEntry cold = entry_of("mm", 1);
  cold.method = {"restored", "flushed", "none", 18446744073709551615u};
  CHECK(parse_history_line(history_line(cold)).value() == cold);
  CHECK_FALSE(parse_history_line(line + R"(,"method":{"inputs":"repeated"}})").is_ok());
}

TEST_CASE("verdicts and baselines have the texts that they have always had") {
  CHECK(
      history_line(entry_of("mm", 1)) ==
      R"({"when":1700000000,"case":"mm","target":"aarch64","label":"1234abcd","verdict":"slower",)"
      R"("environment":{"board":"pi-3","processor":"cortex-a72","kernel":"Linux 6.1.0","governor":"performance"},)"
      R"("module":{"module":"ffa06c49bd23d4a18326f04a12a9e658fec30a89bf744cc7d3ab14071847af1c",)"
      R"("identity":"0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a",)"
      R"("blobs":[],"label":"commit 9","stored":1700000009},"seconds":[0.5,1.0],"change":[2.0,1.5,null],"instructions":12345.0,)"
      R"("method":{"inputs":"repeated","cache":"warm","isolation":"none","seed":0}})");
  StoredModule module = module_with(1);
  module.holder = "anna";
  CHECK(baseline_text({{{"mm", "x86_64"}, module}}) == R"({
 "format": 1,
 "cases": [
  {
   "case": "mm",
   "target": "x86_64",
   "module": "fe46552fed8d37be1ef9da4cf6448f18d6001d9d3c3b95a4be901dca14d61c25",
   "identity": "0202020202020202020202020202020202020202020202020202020202020202",
   "blobs": [],
   "label": "commit 1",
   "stored": 1700000001,
   "holder": "anna"
  }
 ]
}
)");
}

TEST_CASE("verdicts with times and numbers that nothing can have are no verdicts") {
  const std::string line = history_line(entry_of("mm", 1));
  REQUIRE(parse_history_line(line).is_ok());
  const std::pair<std::string, std::string> changes[] = {{"\"when\":1700000000", "\"when\":1e18"},
                                                         {"\"instructions\":12345.0", "\"instructions\":-1"},
                                                         {"\"instructions\":12345.0", "\"instructions\":true"},
                                                         {"\"instructions\":12345.0", "\"instructions\":1e999"}};
  for (const auto& [from, to] : changes) {
    std::string changed = line;
    REQUIRE_MESSAGE(contains(line, from), line);
    changed.replace(changed.find(from), from.size(), to);
    CHECK_FALSE(parse_history_line(changed).is_ok());
  }
}

TEST_CASE("texts with random changes are read or refused, and what is read can be written and read again") {
  const std::string line = history_line(entry_of("mm", 1));
  const std::string baseline =
      baseline_text({{{"mm", "x86_64"}, module_with(1)}, {{"conv", "x86_64"}, module_with(2)}});
  std::mt19937 random(3);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = i % 2 == 0 ? line : baseline;
    for (unsigned change = random() % 3; change < 3; ++change) {
      const std::size_t place = random() % text.size();
      switch (random() % 3) {
        case 0: text[place] = "{}[],:\"-e9 \0\xff"[random() % 13]; break;
        case 1: text.erase(place, random() % 20); break;
        case 2: text.insert(place, text.substr(random() % text.size(), random() % 40)); break;
      }
    }
    CAPTURE(text);
    if (i % 2 == 0) {
      const Result<HistoryEntry> entry = parse_history_line(text);
      if (entry.is_ok()) CHECK(parse_history_line(history_line(entry.value())).is_ok());
      refused += entry.is_ok() ? 0 : 1;
    } else {
      const Result<Baseline> read = parse_baseline(text);
      if (read.is_ok()) CHECK(parse_baseline(baseline_text(read.value())).is_ok());
      refused += read.is_ok() ? 0 : 1;
    }
  }
  CHECK(refused > 1000);
  CHECK(refused < 3000);
}

}  // namespace
}  // namespace ferry::gate
