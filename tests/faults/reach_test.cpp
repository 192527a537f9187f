// Tests of kernels that try to reach beyond their session: the server that watches them, other sessions, and memory and
// disk space that no process limit counts. They run natively, because emulators do not confine processes.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/unit/device-runtime/support/next_session.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"

namespace ferry::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kSetOwn = 8, kSetSignal = 10, kSetOwnEx = 15;  // commands of fcntl

// Returns the status of a system call that the session may not survive.
Status last_call(TestClient& client, long number, std::vector<std::int64_t> arguments) {
  arguments.insert(arguments.begin(), number);
  arguments.resize(5);
  arguments.push_back(1);
  rpc::Call call{put(client, kit_file()), "system", {}};
  for (const std::int64_t argument : arguments) call.arguments.push_back(scalar(argument));
  const auto text = client.upload(std::vector<std::uint8_t>{0});
  const auto result = client.upload(std::vector<std::int64_t>{0});
  call.arguments.push_back(tensor(text, {1}, DType::u8));
  call.arguments.push_back(tensor(result, {1}, DType::i64));
  return client.ask(call).status;
}

// Makes the system call and waits up to 10 s for the session to end.
Status end_by(TestClient& client, long number, const std::vector<std::int64_t>& arguments) {
  const auto begin = Clock::now();
  Status status = last_call(client, number, arguments);
  while (status.is_ok() && Clock::now() - begin < std::chrono::seconds(10)) {
    const auto answer = client.next_response();
    status = answer.is_ok() ? rpc::failure_of(answer.value()) : answer.status();
  }
  return status;
}

// Checks the reason why the session was ended: the client receives it unless another answer was already on its way, and
// the server's log always contains it.
void check_ended_for(const TestServer& server, const Status& end, const std::string& reason) {
  CHECK_MESSAGE((end.code() == ErrorCode::resource_exhausted || end.code() == ErrorCode::unavailable), end.message());
  if (end.code() == ErrorCode::resource_exhausted) CHECK(end.message().find(reason) != std::string::npos);
  for (int i = 0; i < 500 && server.errors().find(reason) == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(server.errors().find(reason) != std::string::npos);
}

std::vector<std::string> user_options() {
  // Without a separate user, sessions run as the server's user.
  return {"--sessions", "2", "--threads", "2", "--memory-limit", "128M"};
}

TEST_CASE("a session's socket sends the server no signals") {
  TestServer server(user_options());
  {
    TestClient client(server.port());
    SystemCaller call(client);
    const std::int64_t parent = call(SYS_getppid);
    CHECK(parent == server.process());
    for (std::int64_t file = 0; file < 16; ++file) {
      CHECK(call(SYS_fcntl, {file, kSetOwn, parent}) == -EPERM);
      CHECK(call(SYS_fcntl, {file, kSetOwn, -parent}) == -EPERM);
      CHECK(call(SYS_fcntl, {file, kSetSignal, SIGKILL}) == -EPERM);
      CHECK(call(SYS_fcntl, {file, kSetOwnEx, SystemCaller::kText}, std::string(8, '\1')) == -EPERM);
      CHECK(call(SYS_ioctl, {file, 0x8901, SystemCaller::kText}, std::string(8, '\1')) == -EPERM);
      CHECK(call(SYS_ioctl, {file, 0x8902, SystemCaller::kText}, std::string(8, '\1')) == -EPERM);
      call(SYS_fcntl, {file, F_SETFL, O_ASYNC});
    }
    CHECK(call(SYS_ioctl, {2, 0x5412, SystemCaller::kText}, "x") == -EPERM);  // types into a terminal
    CHECK(call(SYS_fcntl, {2, F_GETFD}) >= 0);
    client.must(rpc::Ping{});
  }
  check_next_session(server);
}

TEST_CASE("the memory of the server and of other sessions cannot be opened, nor what they have open") {
  TestServer server(user_options());
  TestClient victim(server.port()), client(server.port());
  SystemCaller spy(victim), call(client);
  for (const std::int64_t process : {std::int64_t{server.process()}, spy(SYS_getpid)}) {
    CAPTURE(process);
    const std::string folder = "/proc/" + std::to_string(process);
    CHECK(call(SYS_openat, {AT_FDCWD, SystemCaller::kText, O_RDWR}, folder + "/mem") < 0);
    CHECK(call(SYS_openat, {AT_FDCWD, SystemCaller::kText, O_RDONLY}, folder + "/mem") < 0);
    CHECK(call(SYS_openat, {AT_FDCWD, SystemCaller::kText, O_RDONLY}, folder + "/fd/0") < 0);
    CHECK(call(SYS_process_vm_readv, {process}) == -EPERM);
  }
}

// Somebody who is no user of this machine, where the tests run as root.
constexpr uid_t kNobody = 65534;

std::vector<std::string> as_nobody() {
  if (getuid() != 0) return {};
  const std::string number = std::to_string(kNobody);
  return {"setpriv", "--reuid=" + number, "--regid=" + number, "--clear-groups"};
}

bool nobody_can_run_it() {
  std::string command;
  for (const std::string& word : as_nobody()) command += word + " ";
  const bool can = std::system((command + "test -x '" + server_command().back() + "'").c_str()) == 0;
  if (!can) MESSAGE("skipped: nobody but this user reaches " << server_command().back());
  return can;
}

// A process of the server's user that tries to open the memory of each session as soon as there is one, until it is
// told to end: whether it has ever succeeded.
class Spy {
 public:
  explicit Spy(pid_t server) {
    REQUIRE(pipe(found_) == 0);
    process_ = fork();
    REQUIRE(process_ >= 0);
    if (process_ == 0) {
      if (getuid() == 0 && (setresgid(kNobody, kNobody, kNobody) != 0 || setresuid(kNobody, kNobody, kNobody) != 0))
        _exit(1);
      const std::string process = std::to_string(server);
      const int list = open(("/proc/" + process + "/task/" + process + "/children").c_str(), O_RDONLY);
      char text[256];
      for (ssize_t count = 0; (count = pread(list, text, sizeof text - 1, 0)) >= 0;) {
        text[count] = 0;
        for (const char* word = strtok(text, " "); word != nullptr; word = strtok(nullptr, " ")) {
          if (open(("/proc/" + std::string(word) + "/mem").c_str(), O_RDWR | O_CLOEXEC) < 0) continue;
          [[maybe_unused]] const ssize_t told = write(found_[1], "!", 1);
          _exit(0);
        }
      }
      _exit(1);
    }
    close(found_[1]);
  }
  bool succeeded() {
    kill(process_, SIGKILL);
    int status = 0;
    waitpid(process_, &status, 0);
    // Else it was not able to look.
    CHECK((WIFSIGNALED(status) || WEXITSTATUS(status) == 0));
    char one = 0;
    return read(found_[0], &one, 1) == 1;
  }

 private:
  int found_[2] = {-1, -1};
  pid_t process_ = -1;
};

TEST_CASE("nor can that of a session that is just being made") {
  if (!nobody_can_run_it()) return;
  TestServer server(user_options(), as_nobody());
  Spy spy(server.process());
  for (int i = 0; i < 300; ++i) TestClient(server.port()).must(rpc::Ping{});
  CHECK_FALSE(spy.succeeded());
}

TEST_CASE("a session is what the system ends first when memory runs out, and the server stays as it was") {
  const auto score_of = [](pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/oom_score_adj");
    std::string score;
    file >> score;
    return score;
  };
  for (const std::vector<std::string>& wrapper : {std::vector<std::string>{}, as_nobody()}) {
    if (!wrapper.empty() && !nobody_can_run_it()) continue;
    TestServer server(user_options(), wrapper);
    const std::string own = score_of(getpid());
    TestClient client(server.port());
    SystemCaller call(client);
    CHECK(score_of(static_cast<pid_t>(call(SYS_getpid))) == "500");
    CHECK(score_of(server.process()) == own);
  }
}

TEST_CASE("how the server and other sessions are scheduled is not a session's to say") {
  TestServer server(user_options());
  TestClient client(server.port());
  SystemCaller call(client);
  cpu_set_t before, after;
  REQUIRE(sched_getaffinity(server.process(), sizeof before, &before) == 0);
  const std::string first_core = std::string("\1") + std::string(127, '\0');
  CHECK(call(SYS_sched_setaffinity, {server.process(), 128, SystemCaller::kText}, first_core) == -EPERM);
  CHECK(call(SYS_sched_setscheduler, {server.process(), SCHED_BATCH, SystemCaller::kText}, std::string(8, '\0')) ==
        -EPERM);
  CHECK(call(SYS_setpriority, {PRIO_PROCESS, server.process(), 19}) == -EPERM);
  // A user ID that nobody has, so that the test does no harm if the call succeeds.
  CHECK(call(SYS_setpriority, {PRIO_USER, 54321, 19}) == -EPERM);
  CHECK(call(SYS_ioprio_set, {1, server.process(), 3 << 13}) == -EPERM);
  REQUIRE(sched_getaffinity(server.process(), sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
  CHECK(getpriority(PRIO_PROCESS, static_cast<id_t>(server.process())) == getpriority(PRIO_PROCESS, 0));
  CHECK(call(SYS_sched_setaffinity, {0, 128, SystemCaller::kText}, std::string(128, '\xff')) >= 0);
  CHECK(call(SYS_prctl, {PR_SET_PDEATHSIG, 0}) == -EPERM);
}

TEST_CASE("measurements still choose their cores, with all threads of a kernel") {
  TestServer server(user_options());
  TestClient client(server.port());
  const rpc::Handle module = put(client, kit_file());
  const auto a = client.upload(std::vector<float>(100'000, 1)), c = client.upload(std::vector<float>(100'000, 0));
  rpc::Evaluate evaluate;
  evaluate.calls = {{module, "add", {tensor(a, {100'000}), tensor(a, {100'000}), tensor(c, {100'000})}}};
  evaluate.options.number = 1;
  evaluate.options.min_repeat_ms = 0;
  evaluate.options.repeat = 50;
  cpu_set_t usable;
  REQUIRE(sched_getaffinity(server.process(), sizeof usable, &usable) == 0);
  for (unsigned core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &usable)) evaluate.options.cores = {core};
  }
  const Evaluation there = client.must(evaluate).reply;
  for (const std::uint32_t core : there.calls[0].cores) CHECK(core == evaluate.options.cores[0]);
  evaluate.options.cores.clear();
  CHECK(client.must(evaluate).reply.calls[0].seconds.size() == 50);
}

TEST_CASE("nothing that outlives a session can be made: shared memory, queues, semaphores") {
  TestServer server(user_options());
  TestClient client(server.port());
  SystemCaller call(client);
  CHECK(call(SYS_shmget, {IPC_PRIVATE, 4096, IPC_CREAT | 0600}) == -EPERM);
  CHECK(call(SYS_msgget, {IPC_PRIVATE, IPC_CREAT | 0600}) == -EPERM);
  CHECK(call(SYS_semget, {IPC_PRIVATE, 1, IPC_CREAT | 0600}) == -EPERM);
  CHECK(call(SYS_mq_open, {SystemCaller::kText, O_CREAT | O_RDWR, 0600}, "ferry-test") == -EPERM);
}

TEST_CASE("memory that no limit counts cannot be mapped") {
  TestServer server(user_options());
  TestClient client(server.port());
  SystemCaller call(client);
  CHECK(call(SYS_memfd_create, {SystemCaller::kText, 0}, "memory") == -EPERM);
  const auto map = [&](std::int64_t flags) {
    return call(SYS_mmap, {0, 1 << 20, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS});
  };
  CHECK(map(MAP_SHARED) == -EPERM);
  CHECK(map(MAP_SHARED_VALIDATE) == -EPERM);
  CHECK(map(MAP_PRIVATE | MAP_GROWSDOWN) == -EPERM);
  CHECK(map(MAP_PRIVATE) > 0);
}

TEST_CASE("a kernel that ends its process is reported, however well it ended") {
  TestServer server(user_options());
  for (const std::int64_t code : {0, 3}) {
    TestClient client(server.port());
    const Status status = last_call(client, SYS_exit_group, {code});
    CHECK(status.code() == ErrorCode::kernel_crashed);
    CHECK(status.message().find("the kernel ended the session with exit status " + std::to_string(code)) !=
          std::string::npos);
  }
  CHECK(server.errors().find("exit status 0") != std::string::npos);
  check_next_session(server);
}

// A file system in memory, where mounts are allowed.
class MemoryFolder {
 public:
  MemoryFolder() {
    char pattern[] = "/tmp/ferry-reach-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    path_ = pattern;
  }
  ~MemoryFolder() { rmdir(path_.c_str()); }
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;
  std::vector<std::string> wrapper() const {
    return {"unshare",
            getuid() == 0 ? "-m" : "-rm",
            "sh",
            "-ec",
            "mount -t tmpfs -o size=600m none " + path_ + "; export TMPDIR=" + path_ + "; exec \"$@\"",
            "sh"};
  }

 private:
  std::string path_;
};

bool can_mount() {
  const std::string command = std::string("unshare ") + (getuid() == 0 ? "-m" : "-rm") + " true 2>/dev/null";
  if (std::system(command.c_str()) == 0) return true;
  MESSAGE("skipped: this machine allows no mounts of our own");
  return false;
}

TEST_CASE("a session's files are limited all together") {
  const fs::path work = fs::temp_directory_path() / ("ferry-reach-work-" + std::to_string(getpid()));
  {
    TestServer server({"--workdir", work.string()});
    rpc::Open open;
    open.devices = {"opencl"};  // only sessions with a GPU can make files
    TestClient client(server.port(), open);
    SystemCaller call(client);
    const std::int64_t file = call(SYS_openat, {AT_FDCWD, SystemCaller::kText, O_RDWR | O_CREAT, 0600}, "first");
    const std::int64_t other = call(SYS_openat, {AT_FDCWD, SystemCaller::kText, O_RDWR | O_CREAT, 0600}, "second");
    REQUIRE(other > file);
    if (fs::space(work).available < std::uintmax_t{3} << 30 || call(SYS_fallocate, {file, 0, 0, 600 << 20}) != 0) {
      MESSAGE("skipped: no room for 1.2 GB in " << work.string());
    } else {
      const Status end = end_by(client, SYS_fallocate, {other, 0, 0, 600 << 20});
      check_ended_for(server, end, "its files hold more than they may all together, expected at most 1024 MiB");
    }
  }
  // The files that the session left may still be in the process of being removed.
  std::error_code error;
  for (int i = 0; i < 100 && fs::exists(work); ++i) {
    fs::remove_all(work, error);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

TEST_CASE("a server that cannot see what sessions have open says so") {
  const std::string said = "the size of files without a name (the server may not see what sessions have open)";
  const auto is_said = [&](const std::vector<std::string>& wrapper) {
    TestServer server({}, wrapper);
    const std::vector<std::string> missing = TestClient(server.port()).facts().not_enforced;
    return std::find(missing.begin(), missing.end(), said) != missing.end();
  };
  CHECK(is_said({}) == (getuid() != 0));
  if (getuid() != 0) return;
  if (nobody_can_run_it()) CHECK(is_said(as_nobody()));
  // The service of packaging/systemd starts it like this.
  CHECK(is_said({"setpriv", "--bounding-set", "-sys_ptrace"}));
}

TEST_CASE("without /proc the memory limit is what the system says of its memory") {
  if (!can_mount()) return;
  TestServer server(
      {}, {"unshare", getuid() == 0 ? "-m" : "-rm", "sh", "-ec", "mount -t tmpfs none /proc; exec \"$@\"", "sh"});
  TestClient client(server.port());
  CHECK(client.facts().memory_limit_bytes > (16 << 20));
  std::string missing;
  for (const std::string& what : client.facts().not_enforced) missing += what + "\n";
  CHECK(missing.find("memory that belongs to files") != std::string::npos);
  client.upload(std::vector<float>(1000));
}

}  // namespace
}  // namespace ferry::test
