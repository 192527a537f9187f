// Tests sessions on leased boards that are reached by ssh, with a real server and a login on this machine.
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>

#include "base/throw_status.h"
#include "ferry/client.h"
#include "host/client/connect/leased_board.h"
#include "host/client/connect/local_server.h"
#include "host/client/connect_to.h"
#include "tests/support/fake_ssh.h"

using namespace ferry;
using namespace ferry::session;
using namespace ferry::test;

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

Device open(std::uint64_t epoch, milliseconds remaining, const ConnectOptions& options = {}) {
  const LeasedBoard board{"pi-3", "ssh://pi@pi-3", epoch, {}, lease_for(remaining)};
  return connect_to(*board_connector(board, "pi-3 (farm://lab/pi-3)"), options);
}

Error refusal(std::uint64_t epoch, milliseconds remaining) {
  try {
    open(epoch, remaining);
  } catch (const Error& error) {
    return error;
  }
  FAIL("expected an Error");
  return {ErrorCode::ok, ""};
}

// The command line of the process that the only lock file names, with spaces.
std::string holder_of(const FakeSsh& board) {
  REQUIRE(board.locks().size() == 1);
  std::string name = board.locks()[0].substr(6);
  name = name.substr(name.find('-') + 1);
  std::ifstream file("/proc/" + name.substr(0, name.find('-')) + "/cmdline");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::ranges::replace(text, '\0', ' ');
  return text;
}

bool has_server() {
  if (!find_board_server("x86_64").empty() || !find_board_server("aarch64").empty()) return true;
  MESSAGE("skipped: there is no static rpc_server here; scripts/build.sh --device makes it");
  return false;
}

}  // namespace

TEST_CASE("the server ends a session when its lease is over") {
  if (!has_server()) return;
  const FakeSsh board;
  (void)open(1, std::chrono::minutes(1));  // sends the server
  const auto start = Clock::now();
  const Device device = open(2, milliseconds(3900));
  // Whole seconds that are left: on a busy machine the server may start late.
  std::smatch limit;
  const std::string command = holder_of(board);
  REQUIRE_MESSAGE(std::regex_search(command, limit, std::regex("--stdio --quiet --session-deadline ([1-3]) ")),
                  command);
  CHECK(device.name() == "pi-3 (farm://lab/pi-3)");
  std::string why;
  try {
    while (Clock::now() - start < std::chrono::seconds(60)) {
      device.synchronize();
      std::this_thread::sleep_for(milliseconds(50));
    }
  } catch (const Error& error) {
    why = error.what();
  }
  CHECK_MESSAGE(why.find("the limit of a session is " + limit[1].str() + ".0 s") != std::string::npos, why);
}

TEST_CASE("the next lease ends the session of a holder that is cut off, whatever the holder does") {
  if (!has_server()) return;
  const FakeSsh board;
  const Device cut_off = open(1, std::chrono::minutes(10));
  const Device next = open(2, std::chrono::minutes(10));
  CHECK_THROWS_AS(cut_off.synchronize(), Error);
  next.synchronize();
  const Error late = refusal(1, std::chrono::minutes(10));
  CHECK(late.code() == ErrorCode::unavailable);
  CHECK(std::string(late.what()) == "pi-3 (farm://lab/pi-3): a later lease has this board (epoch 2)");
  next.synchronize();
}

TEST_CASE("a server that was changed on the board is replaced before it runs, and the client is told") {
  if (!has_server()) return;
  const FakeSsh board;
  std::vector<std::string> told;
  ConnectOptions options;
  options.log = [&](const std::string& line) { told.push_back(line); };
  const auto run = [&] {
    told.clear();
    open(1, std::chrono::minutes(1), options).synchronize();
  };
  run();
  REQUIRE(told.size() == 1);
  run();
  CHECK(told.empty());
  std::filesystem::path server;
  for (const auto& entry : std::filesystem::directory_iterator(board.cache()))
    if (entry.path().filename().string().starts_with("rpc_server-")) server = entry.path();
  // A script of the same size, which the next user would start outside of any sandbox.
  const auto size = std::filesystem::file_size(server);
  const std::string script = "#!/bin/sh\ntouch '" + board.home() + "/marked'\nexit 0\n";
  std::ofstream(server, std::ios::binary) << script << std::string(size - script.size(), '\n');
  REQUIRE(std::filesystem::file_size(server) == size);
  run();
  CHECK(!std::filesystem::exists(board.home() + "/marked"));
  REQUIRE(told.size() == 2);
  CHECK(told[0] == "the rpc_server of pi-3 (farm://lab/pi-3) has been changed there: it is replaced");
}

TEST_CASE("a lease that a forged lock file keeps out begins once the tracker has had that removed") {
  if (!has_server()) return;
  const FakeSsh board;
  {
    const Device first = open(1, std::chrono::minutes(10));
  }
  const std::string forged = board.cache() + "/lease-999999999999999999-1-1";
  board.write("cache/ferry/lease-999999999999999999-1-1", "", 0600);
  std::thread tracker([&] {
    std::this_thread::sleep_for(milliseconds(1500));
    std::filesystem::remove(forged);
  });
  const Device next = open(2, std::chrono::minutes(10));
  tracker.join();
  next.synchronize();
}

TEST_CASE("a lease that is over, or has no epoch, gets no session") {
  if (!has_server()) return;
  const FakeSsh board;
  CHECK(std::string(refusal(1, milliseconds(900)).what()) == "pi-3 (farm://lab/pi-3): the lease of this board is over");
  CHECK(std::string(refusal(0, std::chrono::minutes(1)).what()).find("expected a lease's epoch from 1 to ") !=
        std::string::npos);
  CHECK(refusal(std::uint64_t{1} << 63, std::chrono::minutes(1)).code() == ErrorCode::invalid_argument);
}
