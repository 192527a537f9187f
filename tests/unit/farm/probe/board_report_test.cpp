// Tests what a farm makes of the facts that boards report by ssh.
#include "farm/probe/board_report.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::farm;

namespace {

const std::vector<std::string> kBoard{"machine Linux armv8l",
                                      "boot 6f8f1d2e-7a3a-4d58-9b0c-0123456789ab",
                                      "uptime 93784.5",
                                      "load 1.07",
                                      "temperature 48312",
                                      "temperature 51000",
                                      "temperature -3000",
                                      "cores 4",
                                      "cpu ",
                                      "memory 3884740 kB",
                                      "model Raspberry Pi 4 Model B Rev 1.4",
                                      "lease 17-412-88",
                                      "lease 9-1-1"};

std::vector<std::string> with(const std::string& key, const std::string& value) {
  std::vector<std::string> answers;
  for (const std::string& answer : kBoard)
    if (!answer.starts_with(key + " ")) answers.push_back(answer);
  answers.push_back(key + " " + value);
  return answers;
}

}  // namespace

TEST_CASE("a board's report says what a farm needs") {
  const auto report = read_report(kBoard);
  REQUIRE_MESSAGE(report.is_ok(), report.status().message());
  const wire::Description& description = report.value().description;
  CHECK(description.arch == "armv7");
  CHECK(description.cores == 4);
  CHECK(description.memory_bytes == 3884740ull * 1024);
  CHECK(description.model == "Raspberry Pi 4 Model B Rev 1.4");
  CHECK(description.cpu == "Raspberry Pi 4 Model B Rev 1.4");
  CHECK(description.server_version.empty());
  CHECK(report.value().heartbeat.boot_ms == 93'784'500);
  CHECK(report.value().heartbeat.millidegrees == 51000);
  CHECK(report.value().heartbeat.load_permille == 1070);
  REQUIRE(report.value().locks.size() == 2);
  CHECK(report.value().locks[0].epoch == 17);
  CHECK(report.value().locks[0].name == "17-412-88");
  CHECK(report.value().boot_id != read_report(with("boot", "6f8f1d2e-7a3a-4d58-9b0c-0123456789ac")).value().boot_id);
}

TEST_CASE("a board without sensors, a name or lock files is a board") {
  const auto report = read_report({"machine Linux x86_64", "boot 6f8f1d2e-7a3a-4d58-9b0c-0123456789ab", "uptime 7",
                                   "model ", "lease *", "temperature ", "cores ", "load "});
  REQUIRE_MESSAGE(report.is_ok(), report.status().message());
  CHECK(report.value().description.arch == "x86_64");
  CHECK_FALSE(report.value().heartbeat.millidegrees);
  CHECK(report.value().heartbeat.boot_ms == 7000);
  CHECK(report.value().locks.empty());
}

TEST_CASE("a report that lacks what a farm must know says what was expected") {
  for (const auto& [fact, value] : {std::pair{"machine", "Darwin arm64"}, std::pair{"machine", "Linux "},
                                    std::pair{"boot", "none"}, std::pair{"uptime", "1e3"}}) {
    const Status refused = read_report(with(fact, value)).status();
    CHECK(refused.code() == ErrorCode::protocol_error);
    CHECK(refused.message().find(value) != std::string::npos);
  }
  CHECK(read_report({}).status().code() == ErrorCode::protocol_error);
}

TEST_CASE("nonsense is left out, and nothing is too long") {
  for (const char* value : {"nan", "999999999999999999999", "-1", "1x", "300000", "-200000"}) {
    const auto report = read_report(with("temperature", value));
    REQUIRE(report.is_ok());
    if (std::string(value) != "-1") CHECK_FALSE(report.value().heartbeat.millidegrees);
  }
  for (const char* value : {"999999999999999999", "1000000000000000000-1-1", "-4-1-1", "0-1-1", "1;2", "", "1-1-$(x)",
                            "1-1-1-1", "1-1 -1", "+1-1-1"})
    CHECK(read_report(with("lease", value)).value().locks.empty());
  CHECK(read_report(with("lease", "999999999999999999-1-1")).value().locks.at(0).epoch == 999'999'999'999'999'999);
  std::vector<std::string> many = kBoard;
  many.insert(many.end(), 200, "lease 5-1-1");
  CHECK(read_report(many).value().locks.size() == 32);
  for (const char* value : {"-1", "1.-5", "99999999999999999999", ".5", "1,2"})
    CHECK(read_report(with("load", value)).value().heartbeat.load_permille == 0);
  CHECK(read_report(with("load", "1000000.999")).value().heartbeat.load_permille == 1'000'000);
  CHECK(read_report(with("memory", "12 MB")).value().description.memory_bytes == 0);
  CHECK(read_report(with("cores", "-3")).value().description.cores == 0);
  const auto long_one = read_report(with("model", std::string(5000, 'x') + "\x1b[31m\xff"));
  CHECK(long_one.value().description.model.size() <= wire::kMaxText);
  const auto hostile = read_report(with("cpu", "\x1b[31m<b>\xff"));
  CHECK(hostile.value().description.cpu.find('\x1b') == std::string::npos);
}
