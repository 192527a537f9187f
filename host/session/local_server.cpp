#include "host/session/local_server.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "host/session/remote_error.h"

namespace ferry::session {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kStartPatience{5};
constexpr std::chrono::milliseconds kStopPatience{1000};

#if defined(__x86_64__)
constexpr const char* kArch = "x86_64";
#elif defined(__aarch64__)
constexpr const char* kArch = "aarch64";
#elif defined(__arm__)
constexpr const char* kArch = "armv7";
#else
constexpr const char* kArch = "riscv64";
#endif

void add_places_around(const fs::path& binary, std::vector<fs::path>& places) {
  const fs::path folder = binary.parent_path();
  places.push_back(folder / "rpc_server");
  // The library may be a folder deeper than the programs (lib/x86_64-linux-gnu), a build's binaries deeper still.
  fs::path above = folder;
  for (int up = 0; up < 4 && above.has_relative_path(); ++up) {
    above = above.parent_path();
    for (const char* flavour : {"dynamic", "static"}) {
      places.push_back(above / "libexec/ferry" / kArch / flavour / "rpc_server");
      places.push_back(above / "device" / kArch / flavour / "rpc_server");
    }
  }
}

// Runs between fork and exec: nothing but system calls.
[[noreturn]] void become(const char* program, char* const* arguments, int output, pid_t parent, bool end_with_thread) {
  if (end_with_thread) prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);  // the parent ended before it could be watched
  dup2(output, STDOUT_FILENO);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execv(program, arguments);
  _exit(127);
}

}  // namespace

fs::path find_rpc_server() {
  if (const char* named = getenv("FERRY_RPC_SERVER"); named != nullptr && *named != 0) {
    if (access(named, X_OK) != 0) {
      throw RemoteError(ErrorCode::not_found,
                        "FERRY_RPC_SERVER names '" + std::string(named) + "', which is not a program that can be run");
    }
    return named;
  }
  std::vector<fs::path> places;
  std::error_code ignored;
  if (Dl_info self{}; dladdr(reinterpret_cast<void*>(&find_rpc_server), &self) != 0 && self.dli_fname != nullptr) {
    const fs::path library = fs::canonical(self.dli_fname, ignored);
    if (!ignored) add_places_around(library, places);
  }
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  if (!ignored) add_places_around(program, places);
  std::string tried;
  for (const fs::path& place : places) {
    if (access(place.c_str(), X_OK) == 0) return place;
    tried += "\n  " + place.string();
  }
  throw RemoteError(ErrorCode::not_found,
                    "no rpc_server for this machine; name a server with --remote or FERRY_REMOTE, or a program with "
                    "FERRY_RPC_SERVER. Looked at:" +
                        tried);
}

LocalServer::LocalServer(const fs::path& program, const std::vector<std::string>& arguments) : program_(program) {
  std::vector<std::string> words{program.string(), "--port", "0", "--quiet"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    throw RemoteError(ErrorCode::resource_exhausted, std::string("cannot make a pipe: ") + strerror(errno));
  }
  const pid_t parent = getpid();
  // The kernel's signal comes when the thread ends that forked, which means the process only for the first thread.
  const bool end_with_thread = gettid() == parent;
  pid_ = fork();
  if (pid_ == 0) become(program.c_str(), pointers.data(), pipe_ends[1], parent, end_with_thread);
  close(pipe_ends[1]);
  output_ = pipe_ends[0];
  if (pid_ < 0) {
    close(output_);
    throw RemoteError(ErrorCode::resource_exhausted, std::string("cannot start a server: ") + strerror(errno));
  }
}

LocalServer::~LocalServer() {
  close(output_);
  kill(pid_, SIGTERM);
  const auto deadline = Clock::now() + kStopPatience;
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

std::uint16_t LocalServer::port() {
  if (port_ != 0) return port_;
  std::string line;
  const auto deadline = Clock::now() + kStartPatience;
  const auto give_up = [&](const std::string& why) {
    throw RemoteError(ErrorCode::unavailable, program_.string() + " did not start: " + why);
  };
  while (line.find('\n') == std::string::npos) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd watched{output_, POLLIN, 0};
    const int ready = left > 0 ? poll(&watched, 1, static_cast<int>(left)) : 0;
    if (ready == 0) give_up("it said nothing within 5 s");
    if (ready < 0) continue;
    char piece[256];
    const ssize_t count = read(output_, piece, sizeof piece);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) give_up(line.empty() ? "it ended without a word" : line);
    line.append(piece, static_cast<std::size_t>(count));
  }
  line.resize(line.find('\n'));
  const std::size_t colon = line.rfind(':');
  const unsigned long port = colon == std::string::npos ? 0 : strtoul(line.c_str() + colon + 1, nullptr, 10);
  if (port == 0 || port > 65535) give_up("expected 'rpc_server listening on HOST:PORT', got '" + line + "'");
  port_ = static_cast<std::uint16_t>(port);
  return port_;
}

}  // namespace ferry::session
