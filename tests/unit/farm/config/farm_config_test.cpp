// farm.toml: what it says, and what is wrong with one.
#include "farm/config/farm_config.h"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/paths.h"
#include "tests/support/farm/temporary_folder.h"

namespace ferry::test {
namespace {

using namespace farm;

FarmConfig parse(const std::string& text) {
  const auto config = parse_farm_config(text, "farm.toml");
  REQUIRE_MESSAGE(config.is_ok(), config.status().message());
  return config.value();
}

TEST_CASE("an empty file has the defaults") {
  const FarmConfig config = parse("");
  CHECK(config.has_health_checks);
  CHECK(config.health_idle == std::chrono::hours(1));
  CHECK(config.notify.command.empty());
  CHECK(!config.notify.webhook);
  CHECK(config.notify_states == std::set{BoardState::suspect, BoardState::bad});
  CHECK(config.power.command.empty());
  CHECK(config.relay.relays == RelayLimits().relays);
  CHECK(config.weights.empty());
  CHECK(config.boards.empty());
  CHECK(power_of(config, "pi-3").command.empty());
}

TEST_CASE("the example in the documentation says what its comments say") {
  const auto read = read_farm_config(FERRY_SOURCE_DIR "/docs/farm.example.toml");
  REQUIRE_MESSAGE(read.is_ok(), read.status().message());
  const FarmConfig& config = read.value();
  CHECK(config.notify.command == std::vector<std::string>{"/usr/local/bin/tell-the-lab", "{board} is {state}"});
  REQUIRE(config.notify.webhook);
  CHECK(config.notify.webhook->server == "https://chat.example.org");
  CHECK(config.notify.webhook->path == "/hooks/0123456789");
  CHECK(config.notify.timeout == std::chrono::seconds(10));
  CHECK(config.relay.bytes_per_second == 32U << 20U);
  CHECK(config.relay.all_bytes_per_second == 64U << 20U);
  CHECK(config.weights == std::map<std::string, double>{{"anna", 2}, {"nightly builds", 0.5}});
  REQUIRE(config.boards.size() == 4);
  const BoardConfig& pi = config.boards.at("pi-3");
  CHECK(pi.tags == std::map<std::string, std::string>{{"bench", ""}, {"rack", "b2"}});
  CHECK(pi.address.empty());
  CHECK(power_of(config, "pi-3").command.front() == "uhubctl");
  CHECK(power_of(config, "old-pi").command == std::vector<std::string>{"/usr/local/bin/power-cycle", "{board}"});
  CHECK(power_of(config, "old-pi").timeout == std::chrono::seconds(60));
  CHECK(!config.boards.at("vm-1").shares_machine);
  CHECK(config.boards.at("vm-1").machine == "host-1");
  CHECK(config.boards.at("nano-gpu").shares_machine);
  CHECK(config.boards.at("nano-gpu").machine.empty());
  CHECK(config.boards.at("old-pi").address == "ssh://pi@old-pi.lab.example.org:2222");
}

TEST_CASE("what is set replaces the defaults") {
  const FarmConfig config = parse(R"([health]
checks = false
idle_minutes = 5
[notify]
states = ["retired", "good"]
timeout_seconds = 1
[power]
timeout_seconds = 600
[relay]
relays = 0
megabytes_per_second = 1
all_megabytes_per_second = 2
idle_minutes = 3
)");
  CHECK(!config.has_health_checks);
  CHECK(config.health_idle == std::chrono::minutes(5));
  CHECK(config.notify_states == std::set{BoardState::good, BoardState::retired});
  CHECK(config.notify.timeout == std::chrono::seconds(1));
  CHECK(config.power.timeout == std::chrono::minutes(10));
  CHECK(config.relay.relays == 0);
  CHECK(config.relay.bytes_per_second == 1 << 20);
  CHECK(config.relay.all_bytes_per_second == 2 << 20);
  CHECK(config.relay.idle == std::chrono::minutes(3));
}

TEST_CASE("a mistake is named with the file, the line and the key, and what was expected") {
  const std::string long_text(5000, 'x');
  const struct {
    std::string text, message;
  } cases[] = {
      {"[helth]", "farm.toml:1: unknown key 'helth'; the nearest that is known is 'health'"},
      {"\n\n[health]\ncheks = true",
       "farm.toml:4: unknown key 'health.cheks'; the nearest that is known is "
       "'health.checks'"},
      {"[health]\nchecks = 1", "farm.toml:2: health.checks: expected true or false, got 1"},
      {"[health]\nidle_minutes = 0",
       "farm.toml:2: health.idle_minutes: expected a whole number from 1 to 43200, got 0"},
      {"[health]\nidle_minutes = 1.5",
       "farm.toml:2: health.idle_minutes: expected a whole number from 1 to 43200, got 1.5"},
      {"[health]\nidle_minutes = \"5\"",
       "farm.toml:2: health.idle_minutes: expected a whole number from 1 to 43200, got a string"},
      {"health = 1", "farm.toml:1: health: expected a table, got 1"},
      {"[health]\nchecks = true\nchecks = true", "farm.toml:3:"},
      {"[notify]\ncommand = \"mail {board}\"",
       "farm.toml:2: notify.command: expected an array of strings, as in [\"a\", \"b\"], got a string"},
      {"[notify]\ncommand = []", "farm.toml:2: notify.command: expected 1 to 64 strings, got 0"},
      {"[notify]\ncommand = [\"\"]", "farm.toml:2: notify.command: expected 1 to 4096 bytes, got 0"},
      {"[notify]\ncommand = [\"mail\",\n3]", "farm.toml:3: notify.command: expected a string, got 3"},
      {"[notify]\ncommand = [\"mail\", \"{bord}\"]",
       "farm.toml:2: notify.command: expected {board}, {state} in a command, got {bord}"},
      {"[notify]\ncommand = [\"mail\", \"a\\u0000b\"]", "farm.toml:2: notify.command: expected a string without NUL"},
      {"[notify]\nwebhook = \"chat.example.org\"",
       "farm.toml:2: notify.webhook: expected a URL of at most 2048 bytes, http://HOST[:PORT][/PATH] or https://..."},
      {"[notify]\nstates = [\"suspekt\"]",
       "farm.toml:2: notify.states: expected names of good, unknown, suspect, bad, maintenance, retired, got "
       "'suspekt'"},
      {"[notify]\nstates = [\"bad\\u001b[2J\"]", "got 'bad\\x1b[2J'"},
      {"[power]\ncommand = [\"x\", \"{state}\"]",
       "farm.toml:2: power.command: expected {board} in a command, got {state}"},
      {"[power]\ntimeout_seconds = 601",
       "farm.toml:2: power.timeout_seconds: expected a whole number from 1 to 600, got 601"},
      {"[relay]\nrelays = -1", "farm.toml:2: relay.relays: expected a whole number from 0 to 4096, got -1"},
      {"[weights]\nanna = 0", "farm.toml:2: weights.anna: expected a number above 0, and at most 1000"},
      {"[weights]\nanna = -1", "farm.toml:2: weights.anna: expected a number above 0, and at most 1000"},
      {"[weights]\nanna = nan", "farm.toml:2: weights.anna: expected a number above 0, and at most 1000"},
      {"[weights]\nanna = inf", "farm.toml:2: weights.anna: expected a number above 0, and at most 1000"},
      {"[weights]\nanna = true", "farm.toml:2: weights.anna: expected a number above 0, and at most 1000"},
      {"[weights]\n\"\" = 1", "farm.toml:2: weights.: expected a name of 1 to 256 bytes"},
      {"[boards]\npi = \"ssh://pi\"", "farm.toml:2: expected a board, as in [boards.pi], got a value"},
      {"[boards.\"-x\"]", "farm.toml:1: a board's name: expected at most 64 letters"},
      {"[boards.\"a\\u001b[2J\"]", "got 'a\\x1b[2J'"},
      {"[boards.pi]\ntagz = {}",
       "farm.toml:2: unknown key 'boards.pi.tagz'; the nearest that is known is "
       "'boards.pi.tags'"},
      {"[boards.pi]\ntags = [\"bench\"]", "farm.toml:2: boards.pi.tags: expected a table, got an array"},
      {"[boards.pi]\ntags = { bench = true }", "farm.toml:2: boards.pi.tags.bench: expected a string, got true"},
      {"[boards.pi]\ntags = { \"\" = \"x\" }", "farm.toml:2: boards.pi.tags: expected names of 1 to 64 bytes"},
      {"[boards.pi]\ntags = { a = \"" + long_text + "\" }",
       "farm.toml:2: boards.pi.tags.a: expected at most 256 bytes, got 5000"},
      {"[boards.pi]\nmachine = \"\"", "farm.toml:2: boards.pi.machine: expected 1 to 64 bytes, got 0"},
      {"[boards.pi]\nshare_machine = \"yes\"",
       "farm.toml:2: boards.pi.share_machine: expected true or false, got a string"},
      {"[boards.pi]\naddress = \"pi:9090\"",
       "farm.toml:2: boards.pi.address: expected ssh://[USER@]HOST[:PORT], got 'pi:9090'"},
      {"[boards.pi]\naddress = \"ssh://-oProxyCommand=x\"", "farm.toml:2: boards.pi.address: expected a host in "},
      {"[boards.pi]\npower = [\"" + long_text + "\"]",
       "farm.toml:2: boards.pi.power: expected 1 to 4096 bytes, got "
       "5000"},
      {"[boards.pi]\n[boards.pi]", "farm.toml:2:"},
      {"x = ", "farm.toml:1:"},
      {"\xff", "farm.toml:1:"},
  };
  for (const auto& one : cases) {
    const auto config = parse_farm_config(one.text, "farm.toml");
    CAPTURE(one.text);
    REQUIRE(!config.is_ok());
    CHECK(config.status().code() == ErrorCode::invalid_argument);
    CHECK_MESSAGE(config.status().message().find(one.message) != std::string::npos,
                  "got: " << config.status().message() << "\nexpected: " << one.message);
    CHECK(config.status().message().find_first_of("\x1b\n") == std::string::npos);
  }
}

TEST_CASE("more boards, tags or bytes than the limits are refused") {
  std::string boards;
  for (std::size_t i = 0; i <= kMaxConfigBoards; ++i) boards += "[boards.b" + std::to_string(i) + "]\n";
  CHECK(parse_farm_config(boards, "farm.toml")
            .status()
            .message()
            .find("boards: expected at most 16384 of them, got "
                  "16385") != std::string::npos);
  std::string tags = "[boards.pi.tags]\n";
  for (int i = 0; i < 33; ++i) tags += "t" + std::to_string(i) + " = \"\"\n";
  CHECK(parse_farm_config(tags, "farm.toml")
            .status()
            .message()
            .find("boards.pi.tags: expected at most 32 of them, got "
                  "33") != std::string::npos);
  const std::string comment = "#" + std::string(kMaxConfigBytes, 'x');
  CHECK(parse_farm_config(comment, "farm.toml").status().code() == ErrorCode::invalid_argument);
  const std::string nested = "x = " + std::string(100'000, '[');
  CHECK(!parse_farm_config(nested, "farm.toml").is_ok());
}

TEST_CASE("a file that cannot be read is named") {
  const TemporaryFolder folder;
  CHECK(read_farm_config("/nowhere/farm.toml").status().message().starts_with("/nowhere/farm.toml: "));
  CHECK(read_farm_config(folder.path()).status().message().starts_with(folder.path() + ": "));
  std::ofstream(folder.file("farm.toml")) << "[health]\nchecks = maybe\n";
  CHECK(read_farm_config(folder.file("farm.toml")).status().message().find(folder.file("farm.toml") + ":2:") == 0);
}

}  // namespace
}  // namespace ferry::test
