// What changes between two configurations, in words and as data.
#include "farm/config/config_changes.h"
#include "tests/paths.h"

#include <doctest/doctest.h>

namespace ferry::test {
namespace {

using namespace farm;
using Texts = std::vector<std::string>;

ConfigChanges changes(const std::string& before, const std::string& after) {
  const auto old = parse_farm_config(before, "before"), now = parse_farm_config(after, "after");
  REQUIRE_MESSAGE(old.is_ok(), old.status().message());
  REQUIRE_MESSAGE(now.is_ok(), now.status().message());
  return diff(old.value(), now.value());
}

TEST_CASE("equal configurations have no changes") {
  const auto example = read_farm_config(FERRY_SOURCE_DIR "/docs/farm.example.toml");
  REQUIRE(example.is_ok());
  const ConfigChanges none = diff(example.value(), example.value());
  CHECK(none.sentences.empty());
  CHECK(none.boards.empty());
  CHECK(none.holders.empty());
  CHECK(!none.has_health);
  CHECK(!none.has_hooks);
  CHECK(!none.has_relay);
}

TEST_CASE("every difference of a board is a sentence, and the board is named once") {
  const ConfigChanges changed = changes(
      R"([boards.pi]
tags = { old = "", rack = "b1" }
machine = "shelf"
[boards.gone]
[boards.same]
machine = "x"
)",
      R"([boards.pi]
tags = { bench = "", rack = "b2" }
machine = "desk"
share_machine = true
address = "ssh://pi"
power = ["secret"]
[boards.new]
tags = { a = "\u001b[2J" }
[boards.same]
machine = "x"
)");
  CHECK(changed.sentences == Texts{"board gone removed", "board pi: tag old removed",
                                   "board pi: tag rack=b1 -> rack=b2", "board pi: tag bench added",
                                   "board pi: machine shelf -> desk", "board pi: shares its machine",
                                   "board pi: address none -> ssh://pi", "board pi: power command changed",
                                   "board new added", "board new: tag a=\\x1b[2J added"});
  CHECK(changed.boards == Texts{"gone", "pi", "new"});
  CHECK(changed.holders.empty());
}

TEST_CASE("weights change from and to 1 where there is none") {
  const ConfigChanges changed =
      changes("[weights]\nanna = 1.0\nben = 3\ncleo = 2", "[weights]\nanna = 2\ndora = 0.5\ncleo = 2");
  CHECK(changed.sentences == Texts{"weight of anna 1 -> 2", "weight of ben 3 -> 1", "weight of dora 1 -> 0.5"});
  CHECK(changed.holders == Texts{"anna", "ben", "dora"});
  CHECK(!changed.has_hooks);
}

TEST_CASE("health, hooks and relays change apart from each other") {
  const ConfigChanges health = changes("", "[health]\nchecks = false\nidle_minutes = 5");
  CHECK(health.sentences == Texts{"health checks switched off", "idle minutes before a health check 60 -> 5"});
  CHECK(health.has_health);
  CHECK(!health.has_hooks);
  CHECK(!health.has_relay);
  const ConfigChanges relay = changes("[relay]\nrelays = 1", "[relay]\nmegabytes_per_second = 7");
  CHECK(relay.sentences == Texts{"relays at a time 1 -> 64", "megabytes per second of a relay 32 -> 7"});
  CHECK(!relay.has_health);
  CHECK(relay.has_relay);
  CHECK(!relay.has_modules);
  const ConfigChanges modules = changes("", "[modules]\nmegabytes = 7");
  CHECK(modules.sentences == Texts{"megabytes of modules 4096 -> 7"});
  CHECK(modules.has_modules);
  CHECK(!modules.has_relay);
}

TEST_CASE("commands and URLs are said to have changed, and are not shown") {
  const std::string before = "[notify]\ncommand = [\"a\"]\nwebhook = \"http://x/1\"\n[power]\ncommand = [\"p\"]\n";
  const std::string after =
      "[notify]\ncommand = [\"a\", \"token\"]\nwebhook = \"http://x/token\"\nstates = [\"bad\"]\n"
      "timeout_seconds = 3\n[power]\ncommand = [\"p\", \"token\"]\ntimeout_seconds = 9\n";
  const ConfigChanges changed = changes(before, after);
  CHECK(changed.sentences == Texts{"notification command changed", "webhook changed",
                                   "notifications of states suspect, bad -> bad", "seconds for a notification 10 -> 3",
                                   "power command changed", "seconds for a power command 60 -> 9"});
  CHECK(changed.has_hooks);
  CHECK(!changed.has_health);
  CHECK(!changed.has_relay);
  CHECK(changes("[notify]\nwebhook = \"http://x/1\"", "").sentences == Texts{"webhook changed"});
}

}  // namespace
}  // namespace ferry::test
