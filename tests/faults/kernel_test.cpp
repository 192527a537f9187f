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
void after(const TestServer& server, const std::function<void(TestClient&, SystemCaller&)>& trouble,
           const std::vector<std::string>& devices = {}) {
  {
    rpc::Open open;
    open.devices = devices;
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

TEST_CASE("ten gigabytes and a fork bomb are refused") {
  TestServer server(kOnePlace);
  after(server, [](TestClient&, SystemCaller& call) {
#if !defined(__SANITIZE_ADDRESS__)
    CHECK(call(SYS_mmap, {0, std::int64_t{10} << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS}) < 0);
#endif
    CHECK(call(SYS_clone, {SIGCHLD}, "", 10000) == -EPERM);
  });
}

// Only sessions with a GPU can make files.
const std::vector<std::string> kGpu = {"opencl"};

TEST_CASE("a folder full of files keeps nobody from the next session") {
  TestServer server(kOnePlace);
  const auto fill = [](TestClient&, SystemCaller& call) {
    const std::int64_t file = call(SYS_openat, {AT_FDCWD, SystemCaller::kText, O_WRONLY | O_CREAT, 0600}, "large");
    REQUIRE(file > 0);
    CHECK(call(SYS_ftruncate, {file, 1 << 30}) == 0);
    for (int i = 0; i < 200; ++i) {
      CHECK(call(SYS_mkdirat, {AT_FDCWD, SystemCaller::kText, 0}, "folder " + std::to_string(i)) == 0);
    }
  };
  after(server, fill, kGpu);
}

TEST_CASE("writing beyond the size that files may have is refused, or ends the kernel by its signal") {
  TestServer server(kOnePlace);
  const auto fill = [](TestClient& client, SystemCaller& call) {
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
    // A driver may have chosen to ignore the signal.
    const Status ended = client.ask(write).status;
    CAPTURE(ended.message());
    if (ended.is_ok()) {
      CHECK(client.download<std::int64_t>(result, 1)[0] == -EFBIG);
    } else {
      CHECK(ended.message().find("signal 25") != std::string::npos);
    }
  };
  after(server, fill, kGpu);
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
    bool goes_on = true;
    for (std::int64_t descriptor = 0; descriptor < 256 && goes_on; ++descriptor) {
      rpc::Call one{1, "system", {}};
      for (const std::int64_t value :
           {std::int64_t{SYS_close}, descriptor, std::int64_t{0}, std::int64_t{0}, std::int64_t{0}, std::int64_t{1}}) {
        one.arguments.push_back(scalar(value));
      }
      one.arguments.push_back(tensor(text, {1}, DType::u8));
      one.arguments.push_back(tensor(result, {1}, DType::i64));
      goes_on = client.ask(one).status.is_ok();
    }
    CHECK_FALSE(goes_on);
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
    kill(static_cast<pid_t>(client.opened().process), SIGKILL);
    check_next_session(server);
  }
}

TEST_CASE("a module that takes too long to load is stopped like a call") {
  // The module is so large that copying it takes longer than the limit.
  KernelOptions options;
  options.arch = server_arch();
  ModuleFile module = kit_module();
  module.images = {{ImageKind::elf, compile_kernel("char large[128 << 20] = {1};\n"
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
