// Tests of boards with few writable folders and of servers started in unusual ways. They mount file systems, so they
// need root or user namespaces.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "rpc/transport/tcp.h"
#include "tests/unit/device-runtime/support/next_session.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"

namespace ferry::test {
namespace {

// Returns the command prefix that runs a command in a mount namespace of its own after this script, which may mount
// file systems.
std::vector<std::string> behind(const std::string& script) {
  return {"unshare", getuid() == 0 ? "-m" : "-rm", "sh", "-ec", script + "; exec \"$@\"", "sh"};
}

bool can_mount() {
  const std::string command = std::string("unshare ") + (getuid() == 0 ? "-m" : "-rm") + " true 2>/dev/null";
  if (std::system(command.c_str()) == 0) return true;
  MESSAGE("skipped: this machine allows no mounts of our own");
  return false;
}

std::string not_enforced(const TestServer& server) {
  TestClient client(server.port());
  std::string all;
  for (const std::string& what : client.facts().not_enforced) all += what + "\n";
  return all;
}

// The folder's contents stay visible through the bind mount, because these tests may themselves be in /tmp.
std::string read_only(const std::string& folder) {
  return "mount --bind " + folder + " " + folder + "; mount -o remount,bind,ro " + folder;
}

// A separate file system in a new folder, which the server uses for its temporary files.
class Temporary {
 public:
  Temporary() {
    char pattern[] = "/tmp/ferry-board-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    path_ = pattern;
  }
  ~Temporary() { rmdir(path_.c_str()); }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  std::string with(const std::string& options) const {
    return "mount -t tmpfs -o " + options + " none " + path_ + "; export TMPDIR=" + path_;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST_CASE("with nothing to write to, sessions run without folder and say so") {
  if (!can_mount()) return;
  TestServer server({}, behind(read_only("/tmp") + "; " + read_only("/dev/shm") + "; mount -o remount,bind,ro /"));
  check_next_session(server);
  check_next_session(server);
  CHECK(not_enforced(server).find("a work folder of its own") != std::string::npos);
  CHECK(not_enforced(server).find("keeping modules for later sessions") != std::string::npos);
}

TEST_CASE("a read-only /tmp is passed over for /dev/shm") {
  if (!can_mount()) return;
  TestServer server({}, behind(read_only("/tmp") + "; mount -t tmpfs none /dev/shm"));
  check_next_session(server);
  CHECK(not_enforced(server).find("folder") == std::string::npos);
}

TEST_CASE("nothing needs to be executable where temporary files are") {
  if (!can_mount()) return;
  const Temporary temporary;
  TestServer server({}, behind(temporary.with("noexec")));
  check_next_session(server);
}

TEST_CASE("on a full disk modules are not kept, and all else works") {
  if (!can_mount()) return;
  const Temporary temporary;
  TestServer server({}, behind(temporary.with("size=64k") + "; dd if=/dev/zero of=" + temporary.path() +
                               "/full bs=4k 2>/dev/null || true"));
  {
    TestClient client(server.port());
    put(client, kit_file());
    client.must(rpc::Close{});
    CHECK(client.logged().find("cannot keep the module in " + temporary.path() + "/rpc_server") != std::string::npos);
  }
  TestClient client(server.port());
  CHECK(client.ask(rpc::Call{put(client, kit_file()), "say", {}}).status.is_ok());
}

TEST_CASE("a blob for which the disk has no room is refused, and leaves nothing there") {
  if (!can_mount()) return;
  const Temporary temporary;
  TestServer server({"--blob-cache", "64M"}, behind(temporary.with("size=4m")));
  TestClient client(server.port());
  const Bytes piece(1 << 20, 7);
  const Status full = client.ask(rpc::PutBlob{Hash{1}, 8 << 20, 0}, piece).status;
  CHECK(full.code() == ErrorCode::resource_exhausted);
  CHECK(full.message().find("cannot keep the blob in " + temporary.path()) == 0);
  CHECK(full.message().find("No space left on device") != std::string::npos);
  client.must(rpc::PutBlob{blake2b(piece), piece.size(), 0}, piece);
  check_next_session(server);
}

TEST_CASE("a server without a folder refuses blobs and serves all else") {
  if (!can_mount()) return;
  TestServer server({}, behind(read_only("/tmp") + "; " + read_only("/dev/shm") + "; mount -o remount,bind,ro /"));
  TestClient client(server.port());
  CHECK(client.must(rpc::FindBlobs{{Hash{1}}}).reply.missing == std::vector<std::uint32_t>{0});
  const Status none = client.ask(rpc::PutBlob{Hash{1}, 10, 0}, Bytes(10)).status;
  CHECK(none.code() == ErrorCode::unsupported);
  CHECK(none.message() == "this server has no folder in which to keep blobs");
  check_next_session(server);
}

TEST_CASE("a kernel that fills the disk its folder is on keeps nobody from the next session, and what it wrote goes") {
  if (!can_mount()) return;
  const Temporary temporary;
  TestServer server({"--sessions", "1"}, behind(temporary.with("size=4m")));
  for (int round = 0; round < 2; ++round) {
    rpc::Open open;
    open.devices = {"opencl"};  // only sessions with a GPU can make files
    TestClient client(server.port(), open);
    SystemCaller call(client);
    const std::int64_t file = call(SYS_openat, {AT_FDCWD, SystemCaller::kText, O_WRONLY | O_CREAT, 0600}, "large");
    REQUIRE(file > 0);
    const std::string block(1 << 16, 'x');
    CHECK(call(SYS_write, {file, SystemCaller::kText, 1 << 16}, block, 30) == 1 << 16);
    CHECK(call(SYS_write, {file, SystemCaller::kText, 1 << 16}, block, 100) == -ENOSPC);
    client.must(rpc::Close{});
    check_next_session(server);
    CHECK(sessions_end(server));  // waits for the processes that clean up behind the sessions too
  }
}

TEST_CASE("a server that was started with its streams closed serves all the same") {
  const std::string port = std::to_string(20000 + getpid() % 20000);
  const pid_t server = fork();
  REQUIRE(server >= 0);
  if (server == 0) {
    for (int stream = 0; stream < 3; ++stream) close(stream);
    const std::string program = server_command().back();
    execl(program.c_str(), program.c_str(), "--port", port.c_str(), "--insecure-plaintext",
          static_cast<char*>(nullptr));
    _exit(127);
  }
  bool served = false;
  for (int i = 0; i < 200 && !served; ++i) {
    auto transport = connect_tcp("127.0.0.1", static_cast<std::uint16_t>(std::stoi(port)));
    if (!transport.is_ok()) {
      usleep(10'000);
      continue;
    }
    TestClient client(std::move(transport.value()));
    CHECK(client.ask(rpc::Call{put(client, kit_file()), "say", {}}).status.is_ok());
    served = true;
  }
  CHECK(served);
  kill(server, SIGTERM);
  int status = 0;
  waitpid(server, &status, 0);
  CHECK(status == 0);
}

}  // namespace
}  // namespace ferry::test
