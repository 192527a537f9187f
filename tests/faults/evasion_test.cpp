// Tests of kernels that evade what the server watches their session by, or change how other sessions run. They run
// natively, because emulators do not confine processes.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "tests/faults/session_kernels.h"
#include "tests/unit/device-runtime/support/next_session.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"

namespace ferry::test {
namespace {

rpc::Open with_gpu() {
  rpc::Open open;
  open.devices = {"opencl"};
  return open;
}

// Returns what the system says of the process's share of the processors: "/autogroup-NUMBER nice NICENESS".
std::string autogroup_of(std::int64_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/autogroup");
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the answer, which ends the session, to a call of `system`.
Status last_call(TestClient& client, std::vector<std::int64_t> arguments) {
  arguments.resize(5);
  arguments.push_back(1);
  rpc::Call call{put(client, kit_file()), "system", {}};
  for (const std::int64_t argument : arguments) call.arguments.push_back(scalar(argument));
  call.arguments.push_back(tensor(client.upload(std::vector<std::uint8_t>{0}), {1}, DType::u8));
  call.arguments.push_back(tensor(client.upload(std::vector<std::int64_t>{0}), {1}, DType::i64));
  return client.ask(call).status;
}

// Makes a call during or after which the session is ended, and returns the reason.
Status end_by(TestClient& client, const rpc::Call& call) {
  const Status status = client.ask(call).status;
  if (!status.is_ok()) return status;
  const auto answer = client.next_response();
  return answer.is_ok() ? rpc::failure_of(answer.value()) : answer.status();
}

TEST_CASE("a session that lowers its share of the processors lowers neither the server's nor another session's") {
  for (const rpc::Open& open : {rpc::Open(), with_gpu()}) {
    CAPTURE(open.devices.size());
    TestServer server({"--sessions", "2"});
    TestClient client(server.port(), open), other(server.port());
    SystemCaller call(client), other_call(other);
    const std::int64_t process = call(SYS_getpid), neighbour = other_call(SYS_getpid);
    CHECK(getsid(static_cast<pid_t>(process)) == process);
    const std::string before = autogroup_of(server.process()), before_beside = autogroup_of(neighbour);
    if (before.empty()) MESSAGE("this kernel has no autogroups");
    // A GPU's filter allows all of this.
    call(SYS_prctl, {PR_SET_DUMPABLE, 1});
    const std::int64_t file = call(SYS_openat, {AT_FDCWD, SystemCaller::kText, O_WRONLY}, "/proc/self/autogroup");
    if (file >= 0) call(SYS_write, {file, SystemCaller::kText, 2}, "19");
    CHECK(autogroup_of(server.process()) == before);
    // A server that shares its autogroup with sessions shares it with this program, and with what else started that.
    if (autogroup_of(getpid()).find(" nice 19") != std::string::npos) std::ofstream("/proc/self/autogroup") << "0";
    CHECK(autogroup_of(neighbour) == before_beside);
    if (!before.empty()) {
      CHECK(autogroup_of(process) != before);
      CHECK(before_beside != before);
    }
    client.must(rpc::Close{});
    TestClient next(server.port());
    SystemCaller next_call(next);
    if (!before.empty()) CHECK(autogroup_of(next_call(SYS_getpid)).find(" nice 0") != std::string::npos);
  }
}

TEST_CASE("a kernel counts what its own thread does and nothing else, whatever rights it has") {
  TestServer server({"--sessions", "2"});
  TestClient victim(server.port()), client(server.port());
  SystemCaller other(victim);
  const rpc::Handle module = put(client, session_kernels());
  const auto count = [&](std::int64_t process, std::int64_t core) {
    return run_session_kernel(client, module, "open_counter", {process, core});
  };
  for (const std::int64_t process : {std::int64_t{server.process()}, other(SYS_getpid), std::int64_t{1}})
    CHECK(count(process, -1)[0] == -EPERM);
  CHECK(count(-1, 0)[0] == -EPERM);  // whatever runs on that core
  const std::vector<std::int64_t> own = count(0, -1);
  if (own[0] < 0) {
    MESSAGE("skipped: no counters here: " << own[0]);
    return;
  }
  CHECK(own[1] == -EPERM);
}

TEST_CASE("a kernel that ends the first thread of its session ends the session") {
  for (const rpc::Open& open : {rpc::Open(), with_gpu()}) {
    CAPTURE(open.devices.size());
    TestServer server({"--sessions", "1", "--threads", "2"});
    TestClient client(server.port(), open);
    // Starts the other threads.
    const auto a = client.upload(std::vector<float>(100'000, 1)), c = client.upload(std::vector<float>(100'000, 0));
    client.must(
        rpc::Call{put(client, kit_file()), "add", {tensor(a, {100'000}), tensor(a, {100'000}), tensor(c, {100'000})}});
    const Status status = last_call(client, {SYS_exit, 0});
    CHECK(status.code() == ErrorCode::kernel_crashed);
    CHECK_MESSAGE(status.message().find("ended the first thread of its session") != std::string::npos,
                  status.message());
    check_next_session(server);
  }
}

#if !defined(__SANITIZE_ADDRESS__)  // AddressSanitizer itself needs unlimited memory
TEST_CASE("the stack cannot be made larger than its limit, which is not that of memory") {
  TestServer server({"--sessions", "1", "--threads", "2", "--memory-limit", "64M"});
  TestClient client(server.port());
  CHECK(run_session_kernel(client, put(client, session_kernels()), "grow_stack", {std::int64_t{150} << 20})[0] ==
        -ENOSYS);
}

TEST_CASE("page tables count for the memory limit") {
  TestServer server({"--sessions", "1", "--threads", "2", "--memory-limit", "64M"});
  TestClient client(server.port());
  const rpc::Handle module = put(client, session_kernels());
  // A table of 4 KiB for every 2 MiB: 100 MB are less than what a session may hold besides its tensors.
  CHECK(run_session_kernel(client, module, "read_pages", {std::int64_t{50} << 30, 2 << 20})[0] > 0);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  client.must(rpc::Ping{});
  const Status status =
      end_by(client, session_kernel(client, module, "read_pages", {std::int64_t{100} << 30, 2 << 20}));
  CHECK(status.code() == ErrorCode::resource_exhausted);
  CHECK_MESSAGE(status.message().find("of page tables included, expected at most 212 MiB") != std::string::npos,
                status.message());
  check_next_session(server);
}
#endif

TEST_CASE("deleted files that a GPU's session has only mapped count with its others") {
  TestServer server({"--sessions", "1"});
  TestClient client(server.port(), with_gpu());
  const rpc::Handle module = put(client, session_kernels());
  for (const std::string& missing : client.facts().not_enforced) {
    if (missing.find("mapped files without a name") == std::string::npos) continue;
    MESSAGE("skipped: not enforced: " << missing);
    return;
  }
  if (run_session_kernel(client, module, "map_deleted", {600 << 20})[0] < 0) {
    MESSAGE("skipped: no room for 1.2 GB");
    return;
  }
  std::this_thread::sleep_for(std::chrono::seconds(2));
  client.must(rpc::Ping{});
  const Status status = end_by(client, session_kernel(client, module, "map_deleted", {600 << 20}));
  CHECK(status.code() == ErrorCode::resource_exhausted);
  CHECK_MESSAGE(status.message().find("its files hold more than they may all together") != std::string::npos,
                status.message());
  check_next_session(server);
}

// Measures the kit's kernel by 200 samples of so many calls.
Status measure(TestClient& client, std::uint64_t calls) {
  rpc::Evaluate evaluate;
  evaluate.calls = {{put(client, kit_file()), "spin", {scalar(std::int64_t{100'000})}}};
  evaluate.options.number = calls;
  evaluate.options.min_repeat_ms = 0;
  evaluate.options.warmup_ms = 0;
  evaluate.options.repeat = 200;
  return client.ask(evaluate).status;
}

// The calls of a sample with which a measurement takes about two seconds, long enough for the server to look at it.
std::uint64_t calls_for_two_seconds(TestClient& client) {
  constexpr std::uint64_t kTried = 10;
  const auto begin = std::chrono::steady_clock::now();
  const Status status = measure(client, kTried);
  REQUIRE_MESSAGE(status.is_ok(), status.message());
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  return static_cast<std::uint64_t>(kTried * 2 / taken.count()) + 1;
}

TEST_CASE("a session whose clock a kernel has slowed down ends before its times are believed") {
  TestServer server({"--sessions", "1"});
  std::uint64_t calls = 0;
  {
    TestClient client(server.port());
    calls = calls_for_two_seconds(client);
    const Status status = measure(client, calls);
    CHECK_MESSAGE(status.is_ok(), status.message());
  }
  {
    TestClient client(server.port());
    if (run_session_kernel(client, put(client, session_kernels()), "slow_clock", {16})[0] == 0) {
      MESSAGE("skipped: the clock cannot be changed in this way");
      return;
    }
    const Status status = measure(client, calls);
    CHECK(status.code() == ErrorCode::kernel_crashed);
    CHECK_MESSAGE(status.message().find("has changed the clock of its session") != std::string::npos, status.message());
  }
  check_next_session(server);
}

}  // namespace
}  // namespace ferry::test
