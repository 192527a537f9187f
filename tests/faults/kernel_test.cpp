// Tests of kernels that do everything a kernel should not. They run natively, because emulators do not confine
// processes.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/unit/device-runtime/support/compile_kernel.h"
#include "tests/unit/device-runtime/support/next_session.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"

namespace ferry::test {
namespace {

const std::vector<std::string> kOnePlace = {"--sessions", "1", "--threads", "2", "--memory-limit", "256M"};

// Runs a session in which something goes wrong, then one in which nothing does.
void after(const TestServer& server, const std::function<void(TestClient&, SystemCaller&)>& trouble) {
  {
    rpc::Open open;
    open.limits.call_ms = 300;
    TestClient client(server.port(), open);
    SystemCaller call(client);
    trouble(client, call);
  }
  check_next_session(server);
}

TEST_CASE("kernels that crash or never end cost their session alone") {
  TestServer server(kOnePlace);
  for (const char* function :
       {"null_pointer", "illegal", "divide", "crash_inside", "overflow_stack", "overflow_stacks", "forever"}) {
    CAPTURE(function);
    after(server, [&](TestClient& client, SystemCaller&) {
      const Status status = client.ask(rpc::Call{put(client, kit_file()), function, {}}).status;
#if defined(__x86_64__)
      CHECK_FALSE(status.is_ok());
#endif
    });
  }
}

TEST_CASE("an abort is told like a crash") {
  TestServer server(kOnePlace);
  after(server, [&](TestClient& client, SystemCaller& call) {
    const std::int64_t own = call(SYS_getpid);
    rpc::Call abort{1, "system", {}};
    for (const std::int64_t value :
         {std::int64_t{SYS_kill}, own, std::int64_t{SIGABRT}, std::int64_t{0}, std::int64_t{0}, std::int64_t{1}}) {
      abort.arguments.push_back(scalar(value));
    }
    const auto text = client.upload(std::vector<std::uint8_t>{0});
    const auto result = client.upload(std::vector<std::int64_t>{0});
    abort.arguments.push_back(tensor(text, {1}, DType::u8));
    abort.arguments.push_back(tensor(result, {1}, DType::i64));
    const Status status = client.ask(abort).status;
    CHECK(status.code() == ErrorCode::kernel_crashed);
    CHECK(status.message().find("SIGABRT") != std::string::npos);
  });
}

TEST_CASE("ten gigabytes, a fork bomb and a folder full of files are refused or limited") {
  TestServer server(kOnePlace);
  after(server, [](TestClient&, SystemCaller& call) {
#if !defined(__SANITIZE_ADDRESS__)
    CHECK(call(SYS_mmap, {0, std::int64_t{10} << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS}) < 0);
#endif
    CHECK(call(SYS_clone, {SIGCHLD}, "", 10000) == -EPERM);
    const std::int64_t file = call(SYS_openat, {AT_FDCWD, SystemCaller::kText, O_WRONLY | O_CREAT, 0600}, "large");
    REQUIRE(file > 0);
    CHECK(call(SYS_ftruncate, {file, 1 << 30}) == 0);
    for (int i = 0; i < 200; ++i) {
      CHECK(call(SYS_mkdirat, {AT_FDCWD, SystemCaller::kText, 0}, "folder " + std::to_string(i)) == 0);
    }
  });
}

TEST_CASE("writing beyond the size that files may have ends the kernel by its signal") {
  TestServer server(kOnePlace);
  after(server, [](TestClient& client, SystemCaller& call) {
    const std::int64_t file = call(SYS_openat, {AT_FDCWD, SystemCaller::kText, O_WRONLY | O_CREAT, 0600}, "large");
    const auto text = client.upload(std::vector<std::uint8_t>(1000));
    const auto result = client.upload(std::vector<std::int64_t>{0});
    rpc::Call write{1, "system", {}};
    for (const std::int64_t value : {std::int64_t{SYS_pwrite64}, file, SystemCaller::kText, std::int64_t{1000},
                                     std::int64_t{1} << 30, std::int64_t{1}}) {
      write.arguments.push_back(scalar(value));
    }
    write.arguments.push_back(tensor(text, {1000}, DType::u8));
    write.arguments.push_back(tensor(result, {1}, DType::i64));
    CHECK(client.ask(write).status.message().find("signal 25") != std::string::npos);
  });
}

TEST_CASE("a kernel that closes the standard streams, or every descriptor, harms itself alone") {
  TestServer server(kOnePlace);
  after(server, [](TestClient& client, SystemCaller& call) {
    for (int stream = 0; stream < 3; ++stream) call(SYS_close, {stream});
    CHECK(client.ask(rpc::Ping{}).status.is_ok());
  });
  {
    TestClient client(server.port());
    SystemCaller call(client);
    const auto text = client.upload(std::vector<std::uint8_t>{0});
    const auto result = client.upload(std::vector<std::int64_t>{0});
    rpc::Call all{1, "system", {}};
    for (const std::int64_t value : {std::int64_t{SYS_close_range}, std::int64_t{0}, std::int64_t{1000},
                                     std::int64_t{0}, std::int64_t{0}, std::int64_t{1}}) {
      all.arguments.push_back(scalar(value));
    }
    all.arguments.push_back(tensor(text, {1}, DType::u8));
    all.arguments.push_back(tensor(result, {1}, DType::i64));
    CHECK_FALSE(client.ask(all).status.is_ok());
  }
  check_next_session(server);
}

TEST_CASE("a session's process that is killed from outside is replaced for the next client") {
  TestServer server(kOnePlace);
  for (const bool computing : {false, true}) {
    TestClient client(server.port());
    const rpc::Handle module = put(client, kit_file());
    if (computing) client.send(rpc::Call{module, "forever", {}});
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto sessions = children_of(server.process());
    REQUIRE(sessions.size() == 1);
    kill(sessions[0], SIGKILL);
    check_next_session(server);
  }
}

TEST_CASE("a module that takes too long to load is stopped like a call") {
  // The module is so large that copying it takes longer than the limit.
  KernelOptions options;
  options.arch = server_arch();
  ModuleFile module = kit_module();
  module.images = {{"elf", compile_kernel("char large[128 << 20] = {1};\n"
                                          "int say(void) { return large[5]; }\n",
                                          options)}};
  const Bytes file = write_module(module);
  TestServer server({"--sessions", "1", "--memory-limit", "1G"});
  rpc::Open open;
  open.limits.call_ms = 1;
  TestClient client(server.port(), open);
  const Status status = client.ask(rpc::PutModule{1, blake2b(file)}, file).status;
  CHECK(status.code() == ErrorCode::deadline_exceeded);
  CHECK_MESSAGE(status.message().rfind("loading a module was stopped after ", 0) == 0, status.message());
  check_next_session(server);
}

}  // namespace
}  // namespace ferry::test
