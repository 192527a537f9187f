// Tests the report about a kernel that ended its session: signal, function, address, position in the module, last
// output.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

struct Report {
  Status status;
  rpc::CrashEvent event;
  std::optional<rpc::LimitEvent> limit;
};

Report crash(const TestServer& server, const char* function, const rpc::TimeLimits& limits = {}) {
  rpc::Open open;
  open.limits = limits;
  TestClient client(server.port(), open);
  client.send(rpc::Call{put(client, kit_file()), function, {}});
  Report report;
  while (true) {
    const auto frame = client.connection().receive_frame();
    REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
    if (frame.value().header.kind == rpc::FrameKind::response) {
      report.status = rpc::failure_of(frame.value());
      return report;
    }
    if (frame.value().header.tag == static_cast<std::uint16_t>(rpc::EventTag::crash)) {
      report.event = rpc::decode<rpc::CrashEvent>(frame.value().body).value();
    }
    if (frame.value().header.tag == static_cast<std::uint16_t>(rpc::EventTag::limit))
      report.limit = rpc::decode<rpc::LimitEvent>(frame.value().body).value();
  }
}

TEST_CASE("a crash is told with function, signal, address, module and offset, and what was printed last") {
  TestServer server;
  const Report report = crash(server, "say_and_crash");
  CHECK(report.status.code() == ErrorCode::kernel_crashed);
  CHECK(report.event.function == "say_and_crash");
  CHECK(report.event.signal == "SIGSEGV (bad memory access)");
  CHECK(report.event.address == 0x1238);
  CHECK(report.event.module == blake2b(kit_file()));
  CHECK(report.event.offset != 0);
  CHECK(report.event.printed == "first line\nlast words\n");
  CHECK(report.status.message().find(", at address 0x1238, in module " + to_hex(report.event.module).substr(0, 12) +
                                     "+0x") != std::string::npos);
}

TEST_CASE("the end of a stack is told as well, on every thread") {
  TestServer server({"--threads", "3"});
  for (const char* function : {"overflow_stack", "overflow_stacks"}) {
    const Report report = crash(server, function);
    CAPTURE(function);
    CHECK(report.status.code() == ErrorCode::kernel_crashed);
    CHECK(report.event.signal == "SIGSEGV (bad memory access)");
    CHECK(report.event.module == blake2b(kit_file()));
  }
}

TEST_CASE("illegal instructions and divisions by zero are placed in the module") {
  TestServer server;
  CHECK(crash(server, "illegal").event.module == blake2b(kit_file()));
#if defined(__x86_64__)
  if (!is_native()) return;  // on other architectures a division by zero does not fault
  const Report report = crash(server, "divide");
  CHECK(report.event.signal == "SIGFPE (bad arithmetic)");
  CHECK(report.event.module == blake2b(kit_file()));
#endif
}

TEST_CASE("a kernel that was stopped at its deadline is placed too") {
  TestServer server;
  Report report;
  // Emulated on a busy machine, it may not have come to its first instruction by then.
  for (const std::uint32_t limit_ms : {300, 3000, 20'000}) {
    report = crash(server, "forever", {.call_ms = limit_ms});
    if (report.event.module == blake2b(kit_file())) break;
  }
  CHECK(report.status.code() == ErrorCode::deadline_exceeded);
  CHECK(report.event.function == "forever");
  CHECK(report.event.signal.empty());
  CHECK(report.event.module == blake2b(kit_file()));
}

TEST_CASE("the limit that ended a session is told, with the time that its kernel had run") {
  TestServer server;
  CHECK_FALSE(crash(server, "say_and_crash").limit);
  const auto call = crash(server, "forever", {.call_ms = 300, .session_ms = 60'000}).limit;
  REQUIRE(call);
  CHECK(call->request != 0);
  CHECK(call->limit == TimeLimit::call);
  CHECK(call->limit_ms == 300);
  CHECK(call->running_ms >= 300);
  const auto session = crash(server, "forever", {.call_ms = 60'000, .session_ms = 500}).limit;
  REQUIRE(session);
  CHECK(session->limit == TimeLimit::session);
  CHECK(session->limit_ms == 500);
  CHECK(session->running_ms >= 1);
  CHECK(session->running_ms <= 60'000);
  rpc::Open open;
  open.limits.idle_ms = 300;
  TestClient idle(server.port(), open);
  const auto frame = idle.connection().receive_frame();
  REQUIRE(frame.is_ok());
  REQUIRE(frame.value().header.tag == static_cast<std::uint16_t>(rpc::EventTag::limit));
  const rpc::LimitEvent event = rpc::decode<rpc::LimitEvent>(frame.value().body).value();
  CHECK(event.request == 0);
  CHECK(event.limit == TimeLimit::idle);
  CHECK(event.running_ms == 0);
}

TEST_CASE("--perf-map lists the functions of modules with their addresses") {
  TestServer server({"--perf-map"});
  TestClient client(server.port());
  put(client, kit_file());
  const std::string path = "/tmp/perf-" + std::to_string(children_of(server.process()).at(0)) + ".map";
  std::ifstream file(path);
  const std::string map{std::istreambuf_iterator<char>(file), {}};
  unlink(path.c_str());
  CHECK(map.find(" overflow_stack\n") != std::string::npos);
}

TEST_CASE("gdb finds a module's functions, and a kernel waits for it") {
  if (!is_native()) return;
  TestServer server;
  rpc::Open open;
  open.wait_for_debugger = true;
  TestClient client(server.port(), open);
  const std::uint64_t call = client.send(rpc::Call{put(client, kit_file()), "forever", {}});
  const auto frame = client.connection().receive_frame();
  REQUIRE(frame.is_ok());
  const std::string line = rpc::decode<rpc::LogEvent>(frame.value().body).value().text;
  const std::string process = std::to_string(client.opened().process);
  CHECK(line == "waiting for a debugger on the device: gdb -p " + process);
  char output[] = "/tmp/ferry-gdb-XXXXXX";
  close(mkstemp(output));
  // Attaches gdb, stops the process in the kernel and prints where it is.
  const std::string command = "timeout 60 gdb -nx -batch -p " + process +
                              " -ex 'break forever' -ex continue -ex bt -ex detach >" + output + " 2>&1 </dev/null";
  CHECK(std::system(command.c_str()) == 0);
  std::ifstream file(output);
  const std::string said{std::istreambuf_iterator<char>(file), {}};
  unlink(output);
  CAPTURE(said);
  CHECK(said.find("Breakpoint 1, 0x") != std::string::npos);
  CHECK(said.find("in forever ()") != std::string::npos);
  CHECK(call != 0);
}

}  // namespace
}  // namespace ferry::test
