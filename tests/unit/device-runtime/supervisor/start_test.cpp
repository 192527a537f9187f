// Tests of starting and stopping rpc_server, as a user or a script does it.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <thread>

#include "rpc/transport/socket.h"
#include "rpc/transport/tcp.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

namespace fs = std::filesystem;

fs::path temporary_folder() {
  char pattern[] = "/tmp/ferry-test-folder-XXXXXX";
  REQUIRE(mkdtemp(pattern) != nullptr);
  return pattern;
}

// A server on standard input and output, as ssh starts one.
struct PipedServer {
  int to = -1, from = -1;
  pid_t process = -1;

  PipedServer() {
    int to_server[2], from_server[2];
    REQUIRE(pipe2(to_server, O_CLOEXEC) == 0);
    REQUIRE(pipe2(from_server, O_CLOEXEC) == 0);
    std::vector<std::string> words = server_command();
    words.insert(words.end(), {"--quiet", "--stdio"});
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    process = fork();
    REQUIRE(process >= 0);
    if (process == 0) {
      dup2(to_server[0], STDIN_FILENO);
      dup2(from_server[1], STDOUT_FILENO);
      execvp(pointers[0], pointers.data());
      _exit(127);
    }
    close(to_server[0]);
    close(from_server[1]);
    to = to_server[1];
    from = from_server[0];
  }
};

TEST_CASE("the first line on standard output says where the server listens") {
  TestServer server;
  CHECK(server.first_line() == "rpc_server listening on 127.0.0.1:" + std::to_string(server.port()));
  CHECK(server.port() != 0);
  TestClient client(server.port());
}

TEST_CASE("a taken port is passed over when --port-end allows it, and named when it does not") {
  TestServer first;
  const int port = first.port();
  TestServer second({"--port", std::to_string(port), "--port-end", std::to_string(std::min(port + 50, 65535))});
  CHECK(second.port() > port);
  TestClient client(second.port());
  const ProcessResult refused = run_server_program({"--insecure-plaintext", "--port", std::to_string(port)});
  CHECK(refused.exit_code == 1);
  CHECK(refused.errors.find("cannot listen on port " + std::to_string(port)) != std::string::npos);
}

TEST_CASE("without keys, addresses that others can reach are refused with the way out") {
  for (const char* host : {"0.0.0.0", "192.168.1.7", "::"}) {
    const ProcessResult refused = run_server_program({"--host", host, "--port", "0", "--insecure-plaintext"});
    CAPTURE(host);
    CHECK(refused.exit_code == 2);
    CHECK(refused.output.empty());
    CHECK(refused.errors.find("--insecure-plaintext: expected a loopback address, got ") != std::string::npos);
    CHECK(refused.errors.find("Leave the option out") != std::string::npos);
  }
}

TEST_CASE("localhost and the IPv6 loopback address work") {
  TestServer local({"--host", "localhost"});
  CHECK(local.first_line().rfind("rpc_server listening on 127.0.0.1:", 0) == 0);
  TestServer v6({"--host", "::1"});
  CHECK(v6.first_line().rfind("rpc_server listening on [::1]:", 0) == 0);
  auto transport = connect_tcp("::1", v6.port());
  REQUIRE_MESSAGE(transport.is_ok(), transport.status().message());
  TestClient client(std::move(transport.value()));
}

TEST_CASE("a name that the system knows is listened at, and an IPv6 address of one interface") {
  // A static server, which is the default for other architectures, takes only numeric addresses.
  const char* flavour = std::getenv("FERRY_TEST_FLAVOUR");
  const bool is_dynamic =
      flavour == nullptr ? std::getenv("FERRY_TEST_ARCH") == nullptr : flavour == std::string("dynamic");
  if (is_dynamic) {
    TestServer named({"--host", "127.1"});
    CHECK(named.first_line().rfind("rpc_server listening on 127.0.0.1:", 0) == 0);
    TestClient client(named.port());
  }
  TestServer zoned({"--host", "::1%lo"});
  CHECK(zoned.first_line().rfind("rpc_server listening on [::1]:", 0) == 0);
  const std::string refused = run_server_program({"--host", "::1%none", "--insecure-plaintext"}).errors;
  CHECK_MESSAGE(refused.find("--host: ") != std::string::npos, refused);
}

TEST_CASE("bad usage ends with 2 and one sentence") {
  const auto sentence = [](std::vector<std::string> arguments) {
    const ProcessResult result = run_server_program(arguments);
    CHECK(result.exit_code == 2);
    CHECK(result.output.empty());
    return result.errors;
  };
  CHECK(sentence({"--bogus"}).find("rpc_server: unknown option '--bogus' (see rpc_server --help)\n") !=
        std::string::npos);
  CHECK(sentence({"--port", "70000"}).find("--port: expected a number from 0 to 65535, got '70000'") !=
        std::string::npos);
  const std::string name = sentence({"--host", "no-such-host.invalid", "--insecure-plaintext"});
  const bool is_told = name.find("--host: cannot find 'no-such-host.invalid': ") != std::string::npos ||
                       name.find("--host: expected a numeric address") != std::string::npos;
  CHECK_MESSAGE(is_told, name);
}

TEST_CASE("--help and --version print to standard output and end with 0") {
  const ProcessResult help = run_server_program({"--help"});
  CHECK(help.exit_code == 0);
  for (const char* option : {"--host", "--port", "--port-end", "--workdir", "--memory-limit", "--threads", "--quiet",
                             "--key-file", "--insecure-plaintext", "--stdio"}) {
    CAPTURE(option);
    CHECK(help.output.find(option) != std::string::npos);
  }
  const ProcessResult version = run_server_program({"--version"});
  CHECK(version.exit_code == 0);
  CHECK(version.output.rfind("rpc_server ", 0) == 0);
}

TEST_CASE("SIGTERM, SIGINT and SIGHUP end the server and its sessions cleanly") {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    TestServer server;
    TestClient idle(server.port()), busy(server.port());
    const rpc::Handle module = put(busy, kit_file());
    busy.send(rpc::Call{module, "forever", {}});
    const auto sessions = running_children_of(server.process(), 2);
    CHECK(sessions.size() == 2);
    CHECK(server.stop(number) == 0);
    for (const pid_t session : sessions) CHECK(has_ended(session));
    CHECK(idle.next_response().status().code() == ErrorCode::unavailable);
  }
}

TEST_CASE("a private work folder is this user's alone and goes with the server") {
  const fs::path folder = temporary_folder();
  setenv("TMPDIR", folder.c_str(), 1);
  {
    TestServer server;
    TestClient client(server.port());
    put(client, kit_file());
    client.must(rpc::Close{});
    REQUIRE(!fs::is_empty(folder));
    const fs::path work = fs::directory_iterator(folder)->path();
    CHECK((fs::status(work).permissions() & fs::perms::all) == fs::perms::owner_all);
    CHECK(fs::exists(work / "modules" / (to_hex(blake2b(kit_file())) + ".ferry")));
    CHECK(server.stop(SIGTERM) == 0);
  }
  unsetenv("TMPDIR");
  CHECK(fs::is_empty(folder));
  fs::remove_all(folder);
}

TEST_CASE("a work folder that cannot be used is named") {
  const ProcessResult refused =
      run_server_program({"--port", "0", "--workdir", "/proc/nowhere", "--insecure-plaintext"});
  CHECK(refused.exit_code == 1);
  CHECK(refused.errors.find("cannot use the work folder /proc/nowhere") != std::string::npos);
}

TEST_CASE("threads and the memory limit are what the command line says, and the facts repeat them") {
  TestServer server({"--threads", "3", "--memory-limit", "5M"});
  TestClient client(server.port());
  CHECK(client.facts().threads == 3);
  CHECK(client.facts().memory_limit_bytes == 5 << 20);
  CHECK(client.facts().arch == server_arch());
  CHECK_FALSE(client.facts().server_version.empty());
  CHECK(client.must(rpc::Facts{}).reply.facts.threads == 3);
}

TEST_CASE("a server knows its core, an emulated one of 64-bit ARM by its register") {
  TestServer server;
  TestClient client(server.port());
  const std::string& lines = client.facts().cpu_identification;
  if (server_arch() == "aarch64") CHECK(lines == "CPU implementer\t: 0x41\nCPU part\t: 0xd08\n");
  // The emulators of the others show no register, and the host's file has no line of their cores.
  if (server_arch() == "armv7" || server_arch() == "riscv64") CHECK(lines.empty());
  if (server_arch() == "x86_64") CHECK(lines.find("vendor_id") != std::string::npos);
}

TEST_CASE("--quiet says nothing on standard error about sessions") {
  TestServer quiet({"--quiet"}), talking;
  {
    TestClient first(quiet.port()), second(talking.port());
  }
  CHECK(quiet.stop(SIGTERM) == 0);
  CHECK(talking.stop(SIGTERM) == 0);
  CHECK(quiet.errors().find("session") == std::string::npos);
  CHECK(talking.errors().find("session 1: a test from 127.0.0.1:") != std::string::npos);
}

TEST_CASE("a server on an inherited socket serves that one session and ends with it") {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  std::vector<std::string> words = server_command();
  words.insert(words.end(), {"--quiet", "--fd", std::to_string(ends[1])});
  const pid_t server = fork();
  REQUIRE(server >= 0);
  if (server == 0) {
    close(ends[0]);
    std::vector<char*> pointers;
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    execvp(pointers[0], pointers.data());
    _exit(127);
  }
  close(ends[1]);
  {
    auto transport = wrap_socket(ends[0]);
    REQUIRE(transport.is_ok());
    TestClient client(std::move(transport.value()));
    const rpc::Handle module = put(client, kit_file());
    const auto crashed = client.ask(rpc::Call{module, "null_pointer", {}});
    CHECK(crashed.status.code() == ErrorCode::kernel_crashed);
  }
  int status = 0;
  CHECK(waitpid(server, &status, 0) == server);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a server on standard input and output serves one session and ends with it") {
  PipedServer server;
  int between[2];
  // The client's transport needs a socket: two threads take the role of ssh.
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, between) == 0);
  const auto carry = [](int from, int to, bool is_socket) {
    std::array<char, 65536> bytes;
    for (ssize_t count; (count = read(from, bytes.data(), bytes.size())) > 0;) {
      if (write(to, bytes.data(), static_cast<std::size_t>(count)) != count) break;
    }
    is_socket ? shutdown(to, SHUT_WR) : close(to);
  };
  std::thread forth(carry, between[1], server.to, false), back(carry, server.from, between[1], true);
  {
    auto transport = wrap_socket(between[0]);
    REQUIRE(transport.is_ok());
    TestClient client(std::move(transport.value()));
    std::vector<float> numbers(1 << 20);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
    CHECK(client.download<float>(client.upload(numbers), numbers.size()) == numbers);
    const rpc::Handle module = put(client, kit_file());
    CHECK(client.must(rpc::Call{module, "say", {}}).status.is_ok());
    const auto crashed = client.ask(rpc::Call{module, "null_pointer", {}});
    CHECK(crashed.status.code() == ErrorCode::kernel_crashed);
  }
  forth.join();
  back.join();
  int status = 0;
  CHECK(waitpid(server.process, &status, 0) == server.process);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  close(server.from);
  close(between[1]);
}

TEST_CASE("a server on standard input ends when that does, also while a kernel runs") {
  PipedServer server;
  Bytes bytes;
  const auto append = [&](ByteSpan part) { bytes.insert(bytes.end(), part.begin(), part.end()); };
  const auto request = [&](std::uint64_t id, const auto& message, ByteSpan payload = {}) {
    const Bytes body = rpc::encode(message);
    rpc::FrameHeader header;
    header.tag = static_cast<std::uint16_t>(rpc::MessageOf<std::decay_t<decltype(message)>>::kTag);
    header.request = id;
    header.body_bytes = static_cast<std::uint32_t>(body.size());
    header.payload_bytes = payload.size();
    append(rpc::encode_frame_header(header));
    append(body);
    append(payload);
  };
  append(rpc::encode_preamble({}));
  request(1, open_as("a test"));
  request(2, rpc::PutModule{1, blake2b(kit_file())}, kit_file());
  request(3, rpc::Call{1, "forever", {}});
  REQUIRE(write(server.to, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  CHECK(waitpid(server.process, nullptr, WNOHANG) == 0);
  close(server.to);
  int status = 0;
  CHECK(waitpid(server.process, &status, 0) == server.process);
  CHECK(WIFEXITED(status));
  close(server.from);
}

}  // namespace
}  // namespace ferry::test
