// Tests on emulated boards that boot a real kernel with rpc_server alone. They show what user-mode emulators cannot,
// since those do not confine a process. FERRY_TEST_ARCH selects the architecture.
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <vector>

#include "tests/boards/board.h"
#include "tests/boards/hostile_kernels.h"
#include "tests/paths.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::vector<Setting> costly_settings() {
  if (is_brief()) return {Setting::usual};
  return {kSettings.begin(), kSettings.end()};
}

std::vector<std::int64_t> run(TestClient& client, const char* function, std::size_t count,
                              std::vector<rpc::Argument> arguments = {}) {
  const rpc::Handle results = client.upload(std::vector<std::int64_t>(count, 12345));
  arguments.push_back(tensor(results, {static_cast<std::int64_t>(count)}, DType::i64));
  client.must(rpc::Call{put(client, hostile_file(server_arch())), function, std::move(arguments)});
  return client.download<std::int64_t>(results, count);
}

int run_ferry(const std::string& words) {
  const std::string command = FERRY_BINARY_DIR "/bin/ferry " + words + " >/dev/null";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("a board without /proc, /tmp, passwd and /dev/null serves, and so does one where nothing can be written") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  for (const Setting setting : kSettings) {
    CAPTURE(name_of(setting));
    check_next_session(*guest, setting);
    TestClient client = client_of(*guest, setting);
    const DeviceFacts& facts = client.facts();
    CHECK(facts.arch == server_arch());
    CHECK(facts.flavour == "static");
    CHECK(facts.operating_system.rfind("Linux 6.", 0) == 0);
    CHECK(facts.logical_cores == 2);
    CHECK(facts.memory_bytes > 200U << 20);
    CHECK(facts.memory_limit_bytes == 96U << 20);
  }
  check_servers_live(*guest);
}

TEST_CASE("ferry compiles for a board that it has asked what it is, and the results are right") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  for (const Setting setting : kSettings) {
    CAPTURE(name_of(setting));
    const std::string remote =
        "--remote 127.0.0.1:" + std::to_string(guest->port(setting)) + " --key-file " + guest->key_file();
    CHECK(run_ferry("run -e 'def add(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }' --size N=1000 --check " +
                    remote) == 0);
    CHECK(run_ferry("run examples/kernels/mm.tc --size M=67,N=129,K=65 --check " + remote) == 0);
    CHECK(run_ferry("device " + remote) == 0);
    CHECK(run_ferry("status " + remote) == 0);
  }
  check_servers_live(*guest);
}

TEST_CASE("on a board, what is not said to be missing is enforced") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  for (const Setting setting : kSettings) {
    CAPTURE(name_of(setting));
    TestClient client = client_of(*guest, setting);
    // A missing protection may be followed by the reason in parentheses.
    const auto is_enforced = [&](const std::string& what) {
      for (const std::string& missing : client.facts().not_enforced) {
        if (missing == what || missing.rfind(what + " (", 0) == 0) return false;
      }
      return true;
    };
    const auto results = run(client, "probe", static_cast<std::size_t>(Probe::count));
    const auto of = [&](Probe probe) { return results[static_cast<std::size_t>(probe)]; };
    // These kernels can enforce everything; only root is exempt from one limit, and two servers have no writable
    // folder.
    CHECK(is_enforced("no core dumps"));
    CHECK(of(Probe::core_limit) == 0);
    CHECK(is_enforced("no new privileges"));
    CHECK(of(Probe::no_new_privileges) == 1);
    CHECK(is_enforced("forbidden system calls"));
    CHECK(of(Probe::fork) == -EPERM);
    CHECK(of(Probe::socket) == -EPERM);
    CHECK(of(Probe::leave_group) == -EPERM);
    CHECK(of(Probe::signal_parent) == -EPERM);
    CHECK(of(Probe::raise_limit) == -EPERM);
    CHECK(is_enforced("memory"));
    CHECK(of(Probe::ten_gigabytes) == -ENOMEM);
    CHECK(of(Probe::shared_memory) == -EPERM);
    CHECK(is_enforced("the number of open files"));
    CHECK(of(Probe::open_files) > 200);
    CHECK(of(Probe::open_files) < 256);
    CHECK(is_enforced("the size of files"));
    CHECK(of(Probe::make_file) == -ENOSYS);
    CHECK(of(Probe::change_mode) == -ENOSYS);
    CHECK(of(Probe::linger) == -EPERM);
    CHECK(of(Probe::be_inspectable) == -EPERM);
    CHECK(of(Probe::own_descriptors) == -EPERM);
    CHECK(is_enforced("the number of threads") == (setting != Setting::bare));
    // The limit is lower where the system allows fewer threads, depending on the board's memory.
    CHECK(of(Probe::own_threads) > 0);
    CHECK(of(Probe::own_threads) <= 4096);
    CHECK(is_enforced("a work folder of its own") == (setting == Setting::usual));
    CHECK(is_enforced("leaving root's capabilities"));
    constexpr std::int64_t kKill = 1 << 5, kModules = 1 << 16, kPtrace = 1 << 19, kAdmin = 1 << 21, kLimits = 1 << 24;
    CHECK((of(Probe::capabilities) & (kKill | kModules | kPtrace | kAdmin | kLimits)) == 0);
    CHECK(is_enforced("memory that belongs to files") == (setting == Setting::usual));
  }
}

TEST_CASE("on a board, kernels that crash or never end cost their session alone") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  for (const Setting setting : kSettings) {
    CAPTURE(name_of(setting));
    std::vector<std::string> functions = {"null_pointer", "forever"};
    // In brief runs on one of the servers alone.
    if (!is_brief() || setting == Setting::usual)
      functions.insert(functions.end(), {"illegal", "crash_inside", "overflow_stack", "overflow_stacks"});
    for (const std::string& function : functions) {
      CAPTURE(function);
      const bool endless = function == "forever";
      TestClient client = client_of(*guest, setting, endless ? 500 : 0);
      const Status status = client.ask(rpc::Call{put(client, kit_file()), function, {}}).status;
      CHECK(status.code() == (endless ? ErrorCode::deadline_exceeded : ErrorCode::kernel_crashed));
      CHECK(status.message().find(function) != std::string::npos);
      check_next_session(*guest, setting);
    }
  }
  check_servers_live(*guest);
}

TEST_CASE("on a board, a kernel that takes all memory is refused it at the limit") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  for (const Setting setting : costly_settings()) {
    CAPTURE(name_of(setting));
    {
      TestClient client = client_of(*guest, setting);
      const auto results = run(client, "bomb", 2);
      CHECK(results[0] > 90);
      // The upper bound is the limit plus the allowance for threads and for the server itself.
      CHECK(results[0] < 96 + 128 + 2 * 10);
      CHECK(results[1] == -ENOMEM);
    }
    check_next_session(*guest, setting);
  }
  check_servers_live(*guest);
}

TEST_CASE("on a board, twenty thousand threads are stopped at the limit, and by the end of their session") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  for (const Setting setting : costly_settings()) {
    CAPTURE(name_of(setting));
    {
      TestClient client = client_of(*guest, setting);
      const auto results = run(client, "threads", 2, {scalar(std::int64_t{20000})});
      CHECK(results[0] > 100);
      // Root has no limit of its own (docs/security.md), so the system's limit applies.
      CHECK(results[0] < (setting == Setting::bare ? 20000 : 4096 + 1));
      CHECK(results[1] == -EAGAIN);
    }
    check_next_session(*guest, setting);
  }
  check_servers_live(*guest);
}

// Runs a session that does its work within a second and then writes beyond its tensor, which is a mapping of its own or
// part of the heap. Whether the write ends the session depends on the kernel.
void overrun(const Guest& guest, Setting setting, std::int64_t tensor_bytes, std::int64_t beyond) {
  CAPTURE(tensor_bytes);
  CAPTURE(beyond);
  const Bytes& file = hostile_file(server_arch());
  const auto begin = Clock::now();
  TestClient client = client_of(guest, setting);
  const rpc::Handle module = put(client, file), memory = client.new_handle();
  CHECK(client.ask(rpc::Call{module, "say", {}}).status.is_ok());
  CHECK(client.logged() == "fine");
  // The host may be busy with other things for a moment.
  if (seconds_since(begin) > 1) check_next_session(guest, setting);
  client.must(rpc::Alloc{memory, static_cast<std::uint64_t>(tensor_bytes), 0});
  (void)client.ask(rpc::Call{module, "overrun", {scalar(beyond), tensor(memory, {tensor_bytes}, DType::u8)}});
}

constexpr std::int64_t kPage = 4096, kMost = 2 << 20;

TEST_CASE("on a board, no overrun of a tensor reaches beyond its session") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  for (const Setting setting : kSettings) {
    CAPTURE(name_of(setting));
    // In brief runs each setting takes another third of the sizes of tensors for each distance.
    std::size_t turn = static_cast<std::size_t>(setting);
    for (std::int64_t beyond = 32 * kPage; beyond <= kMost; beyond += 64 * kPage, ++turn) {
      const std::array<std::int64_t, 3> sizes = {1000, 256 << 10, 3 << 20};
      for (std::size_t i = 0; i < sizes.size(); ++i)
        if (!is_brief() || i == turn % sizes.size()) overrun(*guest, setting, sizes[i], beyond);
    }
    check_next_session(*guest, setting);
  }
  check_servers_live(*guest);
}

TEST_CASE("on a board, an overrun reaches neither another session nor what is told of it") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  TestClient other = client_of(*guest, Setting::usual);
  for (std::int64_t beyond = 32 * kPage; beyond <= kMost; beyond += 64 * kPage) {
    overrun(*guest, Setting::usual, 256 << 10, beyond);
    rpc::Connection connection(guest->connect(Setting::usual));
    REQUIRE(connection.send_request(1, rpc::GetStatus{}).is_ok());
    const auto frame = connection.receive_frame();
    REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
    const auto status = rpc::decode<rpc::StatusReply>(frame.value().body).value();
    REQUIRE(!status.sessions.empty());
    CHECK(status.sessions[0].client == "boards_test");
    CHECK(status.sessions[0].function.empty());
    CHECK(other.ask(rpc::Ping{}).status.is_ok());
  }
  check_servers_live(*guest);
}

TEST_CASE("on a board, no overrun by any number of pages up to 2 MiB reaches beyond its session") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  if (is_left_to_long_tests()) return;
  const auto begin = Clock::now();
  for (std::int64_t beyond = kPage; beyond <= kMost; beyond += kPage) {
    overrun(*guest, Setting::bare, 256 << 10, beyond);
    if (beyond % (64 * kPage) == 0) check_servers_live(*guest);
  }
  check_next_session(*guest, Setting::bare);
  check_servers_live(*guest);
  MESSAGE("overruns of every size took " << seconds_since(begin) << " s");
}

}  // namespace
}  // namespace ferry::test
