#include "host/client/connect/local_server.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <thread>
#include <utility>

#include "base/exec_words.h"
#include "base/throw_status.h"

namespace ferry::session {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kStopTimeout{1000};
constexpr int kServerCannotStart = 127;

#if defined(__x86_64__)
constexpr const char* kArch = "x86_64";
#elif defined(__aarch64__)
constexpr const char* kArch = "aarch64";
#elif defined(__arm__)
constexpr const char* kArch = "armv7";
#else
constexpr const char* kArch = "riscv64";
#endif

// Number of folders between a binary and its prefix: build/release/tests/unit/host/client is below build.
constexpr int kFoldersUp = 6;

// Returns the first of these files that is executable, below a folder of the binary's prefix or build tree. The prefix
// may be the binary's own folder, as that of Python's package is.
fs::path server_near(const fs::path& binary, std::initializer_list<std::string> files) {
  fs::path folder = binary.parent_path();
  for (int up = 0; up <= kFoldersUp && folder.has_relative_path(); ++up, folder = folder.parent_path()) {
    for (const std::string& file : files) {
      for (const char* place : {"libexec/ferry", "device"}) {  // installed, built
        fs::path path = folder / place / file / "rpc_server";
        if (access(path.c_str(), X_OK) == 0) return path;
      }
    }
  }
  return {};
}

// Returns the library that contains this code, and the program.
std::vector<fs::path> own_binaries() {
  std::vector<fs::path> binaries;
  std::error_code error;
  if (Dl_info self{}; dladdr(reinterpret_cast<void*>(&own_binaries), &self) != 0 && self.dli_fname != nullptr) {
    binaries.push_back(fs::canonical(self.dli_fname, error));
  }
  binaries.push_back(fs::read_symlink("/proc/self/exe", error));
  return binaries;
}

// The file descriptors that the server expects its socket and an object of shared memory at.
constexpr int kServerSocket = 3, kServerObject = kServerSocket + 1;

// Runs between fork and exec, so it may only make system calls.
[[noreturn]] void become(const char* program, char* const* arguments, int socket, int object, pid_t parent,
                         bool end_with_thread) {
  if (end_with_thread) prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(kServerCannotStart);  // the parent ended before it could be watched
  // Ctrl-C in a terminal is for ferry, which then ends the session; otherwise it would find that the server is gone.
  setpgid(0, 0);
  // Neither may have the other's number, and dup2 of a descriptor to itself would leave close-on-exec set.
  const int own_socket = fcntl(socket, F_DUPFD_CLOEXEC, kServerObject + 1);
  const int own_object = object < 0 ? -1 : fcntl(object, F_DUPFD_CLOEXEC, kServerObject + 1);
  if (dup2(own_socket, kServerSocket) < 0) _exit(kServerCannotStart);
  if (own_object < 0 || dup2(own_object, kServerObject) < 0) close(kServerObject);
  const int nothing = open("/dev/null", O_RDWR);
  if (nothing >= 0) {
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execv(program, arguments);
  _exit(kServerCannotStart);
}

}  // namespace

fs::path find_rpc_server() {
  if (const char* named = getenv("FERRY_RPC_SERVER"); named != nullptr && *named != 0) {
    if (access(named, X_OK) != 0) {
      throw Error(ErrorCode::not_found,
                  "FERRY_RPC_SERVER names '" + std::string(named) + "', which is not a program that can be run");
    }
    return named;
  }
  const std::vector<fs::path> binaries = own_binaries();
  const std::string arch = kArch;
  for (const fs::path& binary : binaries) {
    if (const fs::path beside = binary.parent_path() / "rpc_server"; access(beside.c_str(), X_OK) == 0) return beside;
    if (const fs::path found = server_near(binary, {arch + "/dynamic", arch + "/static"}); !found.empty()) return found;
  }
  throw Error(ErrorCode::not_found,
              "there is no rpc_server beside " + binaries.back().string() +
                  ", nor one in libexec/ferry of its prefix; connect to a server elsewhere, or name a "
                  "program with FERRY_RPC_SERVER");
}

fs::path find_board_server(const std::string& arch) {
  for (const fs::path& binary : own_binaries()) {
    if (const fs::path found = server_near(binary, {arch + "/static"}); !found.empty()) return found;
  }
  return {};
}

LocalServer::LocalServer(const fs::path& program, const std::vector<std::string>& arguments, int shared_object)
    : program_(program) {
  std::vector<std::string> words{program.string(), "--fd", std::to_string(kServerSocket), "--quiet"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::vector<char*> pointers = exec_words(words);
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    throw Error(ErrorCode::resource_exhausted, std::string("cannot make sockets: ") + strerror(errno));
  }
  const pid_t parent = getpid();
  // The kernel sends the signal when the forking thread ends, which is the end of the process only for the main thread.
  const bool end_with_thread = gettid() == parent;
  pid_ = fork();
  if (pid_ == 0) become(program.c_str(), pointers.data(), sockets[1], shared_object, parent, end_with_thread);
  close(sockets[1]);
  socket_ = sockets[0];
  if (pid_ < 0) {
    close(socket_);
    throw Error(ErrorCode::resource_exhausted, std::string("cannot start a server: ") + strerror(errno));
  }
}

LocalServer::~LocalServer() {
  if (socket_ >= 0) close(socket_);
  if (pid_ < 0) return;
  kill(pid_, SIGTERM);
  const auto deadline = Clock::now() + kStopTimeout;
  auto nap = std::chrono::microseconds(50);
  while (waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (Clock::now() > deadline) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
      return;
    }
    std::this_thread::sleep_for(nap);
    nap = std::min(nap * 2, std::chrono::microseconds(5000));
  }
}

int LocalServer::take_socket() { return std::exchange(socket_, -1); }

void LocalServer::check_running() {
  int how = 0;
  if (pid_ < 0) return;
  // The server's sockets are closed before it can be waited for.
  pid_t ended = 0;
  for (int tries = 0; ended == 0 && tries < 100; ++tries) {
    ended = waitpid(pid_, &how, WNOHANG);
    if (ended == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (ended != pid_) return;
  pid_ = -1;
  const std::string why = WIFSIGNALED(how)                         ? std::string(strsignal(WTERMSIG(how)))
                          : WEXITSTATUS(how) == kServerCannotStart ? "it cannot be run"
                                                                   : "exit code " + std::to_string(WEXITSTATUS(how));
  throw Error(ErrorCode::unavailable, "the server started here, " + program_.string() + ", has ended: " + why);
}

}  // namespace ferry::session
