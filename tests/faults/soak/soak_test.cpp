// Runs ten thousand sessions, sequentially and eight at a time, of which one in ten crashes, and checks that the server
// does not grow. Prints its measurements for docs/lab/sessions.md.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSessions = 10000;

struct Size {
  long memory_kib = 0;
  long descriptors = 0;
  std::size_t processes = 0;
};

Size size_of(const TestServer& server) {
  // The last sessions and their cleanup end slightly later than their clients.
  for (int i = 0; i < 500 && !children_of(server.process()).empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  // The server waits up to two seconds for a session's last output.
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  const std::string folder = "/proc/" + std::to_string(server.process());
  Size size;
  std::ifstream status(folder + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmRSS:", 0) == 0) size.memory_kib = std::stol(line.substr(6));
  }
  std::error_code hidden;  // only root may read all of these
  size.descriptors = std::distance(std::filesystem::directory_iterator(folder + "/fd", hidden), {});
  size.processes = children_of(server.process()).size();
  return size;
}

// Returns the seconds until open was answered; negative if the session failed in an unexpected way.
double one_session(const TestServer& server, bool crashes) {
  rpc::Open open;
  open.client = "soak";
  const auto begin = Clock::now();
  TestClient client(server.port(), open);
  const double setup = std::chrono::duration<double>(Clock::now() - begin).count();
  const auto module = client.ask(rpc::PutModule{1, blake2b(kit_file())});
  if (!module.status.is_ok()) return -1;
  if (!module.reply.present && !client.ask(rpc::PutModule{1, blake2b(kit_file())}, kit_file()).status.is_ok())
    return -1;
  const Status called = client.ask(rpc::Call{1, crashes ? "null_pointer" : "say", {}}).status;
  if (crashes) return called.code() == ErrorCode::kernel_crashed ? setup : -1;
  return called.is_ok() && client.ask(rpc::Close{}).status.is_ok() ? setup : -1;
}

void soak(int at_a_time, int count) {
  TestServer server({"--sessions", std::to_string(at_a_time), "--quiet"});
  std::mutex mutex;
  std::vector<double> setups;
  std::atomic<int> next{0}, failed{0};
  const auto run_until = [&](int end) {
    std::vector<std::thread> clients;
    for (int i = 0; i < at_a_time; ++i) {
      clients.emplace_back([&] {
        for (int n = next++; n < end; n = next++) {
          const double setup = one_session(server, n % 10 == 9);
          const std::lock_guard lock(mutex);
          if (setup < 0) ++failed;
          setups.push_back(setup);
        }
      });
    }
    for (std::thread& client : clients) client.join();
    next = end;
  };
  const auto begin = Clock::now();
  // Warm up first: the allocator and the loader take some memory once.
  run_until(count / 10);
  const Size warm = size_of(server);
  run_until(count);
  const Size last = size_of(server);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::sort(setups.begin(), setups.end());
  MESSAGE(count << " sessions, " << at_a_time << " at a time: " << seconds << " s, set-up median "
                << setups[setups.size() / 2] * 1e3 << " ms, 99th percentile " << setups[setups.size() * 99 / 100] * 1e3
                << " ms; memory " << warm.memory_kib << " -> " << last.memory_kib << " KiB, descriptors "
                << warm.descriptors << " -> " << last.descriptors << ", processes " << last.processes);
  CHECK(failed == 0);
  CHECK(last.memory_kib <= warm.memory_kib + 128);
  CHECK(last.descriptors == warm.descriptors);
  CHECK(last.processes == 0);
}

TEST_CASE("ten thousand sessions one after the other leave the server as it was") { soak(1, kSessions); }

TEST_CASE("ten thousand sessions eight at a time leave the server as it was") { soak(8, kSessions); }

}  // namespace
}  // namespace ferry::test
