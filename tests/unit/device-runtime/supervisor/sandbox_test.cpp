// Tests what the sandbox prevents, from inside, with kernels that make system calls. They run only natively, because
// emulators do not enforce filters and limits.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

namespace fs = std::filesystem;

// A working folder for servers.
class Workdir {
 public:
  Workdir() {
    char pattern[] = "/tmp/ferry-sandbox-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    path_ = pattern;
  }
  // What a server still removes at its end may go under its hands.
  ~Workdir() {
    std::error_code error;
    do fs::remove_all(path_, error);
    while (error == std::errc::no_such_file_or_directory);
  }
  Workdir(const Workdir&) = delete;
  Workdir& operator=(const Workdir&) = delete;
  const std::string& path() const { return path_; }

  // Returns the session folders in it.
  std::vector<fs::path> sessions() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(path_)) {
      if (entry.path().filename().string().rfind("session-", 0) == 0) found.push_back(entry.path());
    }
    return found;
  }
  bool sessions_vanish() const {
    for (int i = 0; i < 500 && !sessions().empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return sessions().empty();
  }

 private:
  std::string path_;
};

TEST_CASE("a kernel cannot start programs or processes, leave its group, open sockets or touch the machine") {
  if (!is_native()) return;
  TestServer server;
  TestClient client(server.port());
  SystemCaller call(client);
  CHECK(call(SYS_execve, {SystemCaller::kText}, "/bin/true") == -EPERM);
  CHECK(call(SYS_clone, {SIGCHLD}) == -EPERM);
  CHECK(call(SYS_clone3) == -ENOSYS);
#ifdef SYS_fork
  CHECK(call(SYS_fork) == -EPERM);
  CHECK(call(SYS_vfork) == -EPERM);
#endif
  CHECK(call(SYS_socket, {AF_INET, SOCK_STREAM}) == -EPERM);
  CHECK(call(SYS_socket, {AF_UNIX, SOCK_STREAM}) == -EPERM);
  CHECK(call(SYS_ptrace, {16, 1}) == -EPERM);
  CHECK(call(SYS_mount) == -EPERM);
  CHECK(call(SYS_setsid) == -EPERM);
  CHECK(call(SYS_setpgid) == -EPERM);
  CHECK(call(SYS_unshare, {CLONE_NEWUSER}) == -EPERM);
  CHECK(call(SYS_bpf) == -EPERM);
  CHECK(call(SYS_io_uring_setup) == -EPERM);
  CHECK(call(SYS_reboot) == -EPERM);
  CHECK(call(SYS_kill, {getpid(), 0}) == -EPERM);
  CHECK(call(SYS_kill, {server.process(), SIGTERM}) == -EPERM);
  CHECK(call(SYS_kill, {-1, SIGTERM}) == -EPERM);
  CHECK(call(SYS_kill, {call(SYS_getpid), 0}) == 0);
}

TEST_CASE("limits cannot be raised again, and can be read") {
  if (!is_native()) return;
  TestServer server;
  TestClient client(server.port());
  SystemCaller call(client);
  CHECK(call(SYS_prlimit64, {0, RLIMIT_NOFILE, SystemCaller::kText}, std::string(16, '\x7f')) == -EPERM);
  CHECK(call(SYS_prlimit64, {0, RLIMIT_NOFILE, 0, SystemCaller::kText}, std::string(16, '\x7f')) == 0);
}

TEST_CASE("ten gigabytes are refused to a kernel when the limit is less") {
  if (!is_native()) return;
  TestServer server({"--memory-limit", "64M"});
  TestClient client(server.port());
  SystemCaller call(client);
  const auto map = [&](std::int64_t bytes) {
    return call(SYS_mmap, {0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS});
  };
#if !defined(__SANITIZE_ADDRESS__)  // AddressSanitizer itself needs unlimited memory, so there is no limit
  CHECK(map(std::int64_t{10} << 30) == -ENOMEM);
#endif
  CHECK(map(16 << 20) > 0);
}

TEST_CASE("memory, processor time, threads, open files, the size of files and core dumps are limited") {
  if (!is_native()) return;
  TestServer server({"--memory-limit", "64M", "--threads", "2"});
  rpc::Open open;
  open.limits.session_ms = 5000;
  TestClient client(server.port(), open);
  SystemCaller call(client);
  const auto limit = [&](const std::string& name) {
    std::ifstream file("/proc/" + std::to_string(call(SYS_getpid)) + "/limits");
    std::string line;
    while (std::getline(file, line) && line.rfind(name, 0) != 0) {
    }
    const std::string rest = line.substr(std::min(line.size(), name.size()));
    return std::stoll("0" + rest.substr(std::min(rest.size(), rest.find_first_not_of(' '))));
  };
#if !defined(__SANITIZE_ADDRESS__)  // AddressSanitizer itself needs unlimited memory
  CHECK(limit("Max data size") == (64 + 128 + 2 * 10) << 20);
#endif
  CHECK(limit("Max cpu time") == 5 * (2 + 1) + 10);
  CHECK(limit("Max processes") == 4096);
  CHECK(limit("Max core file size") == 0);
  CHECK(limit("Max file size") == 1 << 30);
  CHECK(limit("Max open files") == 256);
  CHECK(call(SYS_fcntl, {0, F_DUPFD, 0}, "", 300) == -EMFILE);
}

rpc::Open with_gpu() {
  rpc::Open open;
  open.client = "test";
  open.devices = {"opencl"};
  return open;
}

TEST_CASE("a session without a GPU reaches no file: not the server's, not the user's, not its own folder's") {
  if (!is_native()) return;
  const Workdir workdir;
  TestServer server({"--workdir", workdir.path()});
  TestClient client(server.port());
  SystemCaller call(client);
  REQUIRE(workdir.sessions().size() == 1);
  for (const std::string& path : {std::string("a file"), workdir.path() + "/modules/a file",
                                  workdir.path() + "/blobs/a file", workdir.path() + "/a file"}) {
    CAPTURE(path);
    CHECK(call(SYS_openat, {AT_FDCWD, SystemCaller::kText, O_WRONLY | O_CREAT, 0600}, path) == -ENOSYS);
    CHECK(call(SYS_mkdirat, {AT_FDCWD, SystemCaller::kText, 0700}, path) == -ENOSYS);
    CHECK(call(SYS_mknodat, {AT_FDCWD, SystemCaller::kText, S_IFIFO | 0600}, path) == -EPERM);
    CHECK_FALSE(fs::exists(path));
  }
  CHECK(call(SYS_fchmodat, {AT_FDCWD, SystemCaller::kText, 0}, workdir.path() + "/modules") == -ENOSYS);
  CHECK(call(SYS_openat, {AT_FDCWD, SystemCaller::kText, O_RDONLY}, "/etc/passwd") == -ENOSYS);
  CHECK(call(SYS_openat, {AT_FDCWD, SystemCaller::kText, O_WRONLY}, "/proc/self/autogroup") == -ENOSYS);
  CHECK(call(SYS_memfd_create, {SystemCaller::kText, 0}, "memory") == -EPERM);
  // What it reads of the board comes from the server.
  const auto files = client.must(rpc::ReadFiles{{"/proc/loadavg", "/etc/passwd", "/proc/self/status"}}).reply;
  CHECK_FALSE(files.texts[0].empty());
  CHECK(files.texts[1].empty());
  CHECK(files.texts[2].empty());
}

TEST_CASE("a session with a GPU writes only to its own folder, where drivers keep their files too") {
  if (!is_native()) return;
  const Workdir workdir;
  TestServer server({"--workdir", workdir.path()});
  TestClient client(server.port(), with_gpu());
  const auto& missing = client.facts().not_enforced;
  const std::string no_landlock = "which files it may open (this kernel has no Landlock)";
  if (std::find(missing.begin(), missing.end(), no_landlock) != missing.end()) {
    MESSAGE("skipped: this kernel has no Landlock");
    return;
  }
  SystemCaller call(client);
  const auto create = [&](const std::string& path) {
    return call(SYS_openat, {AT_FDCWD, SystemCaller::kText, O_WRONLY | O_CREAT, 0600}, path);
  };
  CHECK(create("a file") > 0);
  for (const std::string& path :
       {workdir.path() + "/modules/a file", workdir.path() + "/a file", std::string("/tmp/ferry-sandbox-file")}) {
    CAPTURE(path);
    CHECK(create(path) == -EACCES);
    CHECK_FALSE(fs::exists(path));
  }
  CHECK(call(SYS_openat, {AT_FDCWD, SystemCaller::kText, O_RDONLY}, workdir.path() + "/modules") == -EACCES);
  CHECK(call(SYS_openat, {AT_FDCWD, SystemCaller::kText, O_RDONLY}, "/root") == -EACCES);
  CHECK(call(SYS_openat, {AT_FDCWD, SystemCaller::kText, O_WRONLY}, "/proc/self/autogroup") == -EACCES);
  CHECK(call(SYS_openat, {AT_FDCWD, SystemCaller::kText, O_RDONLY}, "/etc/passwd") > 0);
  CHECK(call(SYS_prctl, {PR_SET_DUMPABLE, 1}) == -EPERM);
}

TEST_CASE("a session works in a folder of its own, which goes with all that it left there") {
  if (!is_native()) return;
  const Workdir workdir;
  TestServer server({"--workdir", workdir.path()});
  {
    TestClient client(server.port(), with_gpu());
    SystemCaller call(client);
    REQUIRE(workdir.sessions().size() == 1);
    CHECK((fs::status(workdir.sessions()[0]).permissions() & fs::perms::all) == fs::perms::owner_all);
    CHECK(call(SYS_openat, {AT_FDCWD, SystemCaller::kText, O_WRONLY | O_CREAT, 0}, "a file") > 0);
    CHECK(fs::exists(workdir.sessions()[0] / "a file"));
    for (int depth = 0; depth < 200; ++depth) {
      REQUIRE(call(SYS_mkdirat, {AT_FDCWD, SystemCaller::kText, 0700}, "deeper and deeper down into the folder") == 0);
      REQUIRE(call(SYS_chdir, {SystemCaller::kText}, "deeper and deeper down into the folder") == 0);
    }
    CHECK(call(SYS_symlinkat, {SystemCaller::kText, AT_FDCWD, SystemCaller::kText}, workdir.path() + "/modules") != 0);
    CHECK(call(SYS_openat, {AT_FDCWD, SystemCaller::kText, O_WRONLY | O_CREAT, 0}, "at the bottom") > 0);
    CHECK(call(SYS_fchmodat, {AT_FDCWD, SystemCaller::kText, 0}, "..") == 0);
  }
  CHECK(workdir.sessions_vanish());
  CHECK(fs::exists(workdir.path() + "/modules"));
}

TEST_CASE("folders that a killed server left are removed by the next one") {
  const Workdir workdir;
  {
    TestServer server({"--workdir", workdir.path()});
    TestClient client(server.port());
    server.stop(SIGKILL);
  }
  CHECK(workdir.sessions().size() == 1);
  TestServer next({"--workdir", workdir.path()});
  CHECK(workdir.sessions().empty());
}

TEST_CASE("what is not enforced is said in the facts") {
  TestServer server;
  TestClient client(server.port());
  std::string said;
  for (const std::string& what : client.facts().not_enforced) said += what + "\n";
  CAPTURE(said);
  CHECK((said.find("seccomp") == std::string::npos) == is_native());
  CHECK((said.find("the number of threads") != std::string::npos) == (getuid() == 0));
#if !defined(__SANITIZE_ADDRESS__)
  CHECK((said.find("memory") == std::string::npos) == is_native());
#endif
  CHECK(said.find("the size of all files together") == std::string::npos);
  CHECK(said.find("work folder") == std::string::npos);
}

TEST_CASE("threads still start, and sessions run as the user that --user names") {
  if (!is_native()) return;
  TestServer server({"--threads", "4"});
  TestClient client(server.port());
  const rpc::Handle module = put(client, kit_file());
  const auto a = client.upload(std::vector<float>(10000, 1)), c = client.upload(std::vector<float>(10000, 0));
  CHECK(client.ask(rpc::Call{module, "add", {tensor(a, {10000}), tensor(a, {10000}), tensor(c, {10000})}})
            .status.is_ok());
  if (getuid() != 0) return;
  TestServer other({"--user", "nobody", "--threads", "4"});
  TestClient second(other.port());
  SystemCaller call(second);
  CHECK(call(SYS_getuid) == 65534);
  CHECK(call(SYS_kill, {call(SYS_getpid), 0}) == 0);
  second.must(rpc::Close{});
  TestClient third(other.port());
  CHECK(third.must(rpc::PutModule{1, blake2b(kit_file())}).reply.present);
}

TEST_CASE("users that cannot be are refused at the start") {
  const ProcessResult unknown = run_server_program({"--user", "no-such-user-here"});
  CHECK(unknown.exit_code == 2);
  CHECK(unknown.errors.find("there is no user 'no-such-user-here'") != std::string::npos);
  CHECK(run_server_program({"--user", "0"}).errors.find("other than root") != std::string::npos);
}

TEST_CASE("a session ends with the server, whoever it runs as") {
  if (!is_native() || getuid() != 0) return;
  TestServer server({"--user", "65534:65534"});
  TestClient client(server.port());
  const auto sessions = children_of(server.process());
  REQUIRE(sessions.size() == 1);
  server.stop(SIGKILL);
  for (int i = 0; i < 200 && kill(sessions[0], 0) == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(kill(sessions[0], 0) != 0);
}

}  // namespace
}  // namespace ferry::test
