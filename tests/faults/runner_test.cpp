// Tests of kernels that try to look faster than they are when they are measured in a process of their own. They run
// natively, because emulators do not confine processes.
#include <dirent.h>
#include <doctest/doctest.h>

#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/device-runtime/support/cheat_checks.h"
#include "tests/unit/device-runtime/support/next_session.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"

namespace ferry::test {
namespace {

const std::vector<std::string> kOne{"--sessions", "1", "--threads", "1"};

OpenClient opening(const TestServer& server) {
  return [&server] { return std::make_unique<TestClient>(server.port()); };
}

TEST_CASE("kernels that do anything but compute are stopped") {
  TestServer server(kOne);
  const OpenClient open = opening(server);
  if (isolates(open)) check_stopped_cheats(open, Extent::whole, [&] { check_next_session(server); });
}

TEST_CASE("calls without their work are seen") {
  TestServer server(kOne);
  const OpenClient open = opening(server);
  if (isolates(open)) check_seen_cheats(open);
}

TEST_CASE("a kernel that says that a window is over before its work is done is seen, stopped, or not listened to") {
  TestServer server(kOne);
  const OpenClient open = opening(server);
  if (isolates(open)) check_early_cheats(open, Extent::whole);
}

TEST_CASE("a kernel that runs on after it has said that it stops is stopped if the system holds it") {
  TestServer server(kOne);
  const OpenClient open = opening(server);
  if (isolates(open)) check_lying_cheats(open);
}

TEST_CASE("results that a kernel has kept are wrong for fresh inputs, or are hardly ever of use") {
  TestServer server(kOne);
  const OpenClient open = opening(server);
  if (isolates(open)) check_copying_cheats(open);
}

TEST_CASE(
    "a kernel that is inexact in the same way in each process is wrong in calls that are drawn, or between them") {
  TestServer server(kOne);
  const OpenClient open = opening(server);
  if (isolates(open)) check_inexact_cheats(open);
}

TEST_CASE("a kernel that is right for the size that is timed is wrong in calls of other sizes between its timed ones") {
  TestServer server(kOne);
  const OpenClient open = opening(server);
  if (isolates(open)) check_size_cheats(open);
}

TEST_CASE("a kernel that changes what looks like a time, or waits for inputs that it knows, is as slow as it is") {
  TestServer server(kOne);
  const OpenClient open = opening(server);
  if (isolates(open)) check_timed_cheats(open, Extent::whole);
}

TEST_CASE("a kernel that breaks the loop around it gains nothing") {
  TestServer server(kOne);
  const OpenClient open = opening(server);
  if (isolates(open)) check_breaking_cheats(open, Extent::whole);
}

TEST_CASE("a kernel that leaves another float mode changes no later call") {
  TestServer server(kOne);
  check_float_mode(opening(server));
}

#if !defined(__SANITIZE_ADDRESS__)  // its shadow memory is too large to search
TEST_CASE("a kernel that searches its process's memory finds no secret, no result and no tensor of others") {
  TestServer server(kOne);
  const OpenClient open = opening(server);
  if (isolates(open)) check_searched_memory(open);
}
#endif

TEST_CASE("without isolation, calls without their work are seen, and results kept for the same inputs are not") {
  TestServer server(kOne);
  check_cheats_in_process(opening(server));
}

std::vector<pid_t> processes_below(pid_t process) {
  std::vector<pid_t> found = children_of(process);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<pid_t> below = children_of(found[i]);
    found.insert(found.end(), below.begin(), below.end());
  }
  std::erase_if(found, has_ended);
  return found;
}

std::size_t open_descriptors(pid_t process) {
  std::size_t count = 0;
  DIR* folder = opendir(("/proc/" + std::to_string(process) + "/fd").c_str());
  if (folder == nullptr) return 0;
  while (const dirent* entry = readdir(folder)) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

// Returns how much of the object of memory that it shares with its session the process has mapped.
std::uint64_t shared_bytes(pid_t process) {
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  std::uint64_t shared = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd") == std::string::npos) continue;
    shared += std::stoull(line.substr(line.find('-') + 1), nullptr, 16) - std::stoull(line, nullptr, 16);
  }
  return shared;
}

TEST_CASE("the process of a measured kernel has neither the session's descriptors nor other tensors") {
  TestServer server(kOne);
  if (!isolates(opening(server))) return;
  TestClient client(server.port());
  const rpc::Handle module = put(client, kit_file());
  const auto other = client.upload(std::vector<float>(1 << 20, 1));
  rpc::Evaluate request;
  request.calls = {{module, "forever", {}}};
  request.options.isolated = true;
  client.send(request);
  std::vector<pid_t> processes;
  for (int i = 0; i < 500 && processes.size() != 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // it tells nobody when it begins
    processes = processes_below(server.process());
  }
  REQUIRE(processes.size() == 3);  // session, zygote, runner
  const pid_t runner = processes[2];
  if (open_descriptors(runner) == 0) {
    MESSAGE("skipped: this user may not look into it");
    return;
  }
  // The standard streams and its end of the socket that tells of its death, and of those on which it says that it
  // stops.
  const std::size_t own = possible_isolation() == TimingIsolation::pipe ? 6 : 4;
  // It runs the kernel once it has closed all else.
  for (int i = 0; i < 500 && (shared_bytes(runner) == 0 || open_descriptors(runner) != own); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(open_descriptors(runner) == own);
  const std::uint64_t shared = shared_bytes(runner);
  CHECK(shared > 0);
  CHECK(shared <= 128 << 10);
  (void)other;
}

}  // namespace
}  // namespace ferry::test
