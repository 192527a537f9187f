#include "host/client/connect/ssh_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "base/exec_words.h"
#include "base/printable.h"
#include "base/throw_status.h"

namespace ferry::session {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kSshCannotStart = 127;
// Maximum output of a login before the script's first answer.
constexpr std::size_t kMaxNoise = std::size_t{1} << 20;

std::vector<std::string> arguments_of(const SshAddress& address, const std::string& command, bool is_unattended) {
  const char* named = getenv("FERRY_SSH");
  std::vector<std::string> words{named != nullptr && *named != 0 ? named : "ssh"};
  // No remote terminal, no forwarding of agent or display, no opened ports; a dead connection is detected.
  for (const char* option : {"-T", "-a", "-x", "-oClearAllForwardings=yes", "-oConnectTimeout=10",
                             "-oServerAliveInterval=4", "-oServerAliveCountMax=2"}) {
    words.push_back(option);
  }
  if (is_unattended) words.push_back("-oBatchMode=yes");
  if (!address.user.empty()) words.insert(words.end(), {"-l", address.user});
  if (address.port != 0) words.insert(words.end(), {"-p", std::to_string(address.port)});
  words.insert(words.end(), {"--", address.host, command});
  return words;
}

// Runs between fork and exec, so it may only make system calls.
[[noreturn]] void become(char* const* words, int socket, int errors, bool end_with_thread) {
  if (end_with_thread) prctl(PR_SET_PDEATHSIG, SIGTERM);
  dup2(socket, STDIN_FILENO);
  dup2(socket, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  execvp(words[0], words);
  const int error = errno;
  const std::string_view why = error == ENOENT ? "there is no such program" : std::strerror(error);
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, why.data(), why.size());
  _exit(kSshCannotStart);
}

// Returns "ssh -p 2222 user@host", the command by which the user reaches the same login.
std::string login_command(const SshAddress& address) {
  return "ssh " + (address.port == 0 ? "" : "-p " + std::to_string(address.port) + " ") +
         (address.user.empty() ? "" : address.user + "@") + address.host;
}

// Returns what the user can do, if ssh's message does not say.
std::string advice(const std::string& words, const std::string& login) {
  if (words.find("Host key verification failed") != std::string::npos ||
      words.find("REMOTE HOST IDENTIFICATION HAS CHANGED") != std::string::npos) {
    return "; see whether '" + login + "' knows the machine's key";
  }
  if (words.find("Permission denied") != std::string::npos) {
    return "; ferry logs in as ssh does, so '" + login + "' has to work first";
  }
  return "";
}

}  // namespace

SshProcess::SshProcess(const SshAddress& address, const std::string& name, const std::string& command,
                       const SshOptions& options)
    : name_(name), options_(options), login_(login_command(address)) {
  std::vector<std::string> words = arguments_of(address, command, options.is_unattended);
  const std::vector<char*> pointers = exec_words(words);
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    throw Error(ErrorCode::resource_exhausted, std::string("cannot make sockets: ") + strerror(errno));
  }
  errors_ = memfd_create("ssh", MFD_CLOEXEC);
  const bool end_with_thread = gettid() == getpid();
  pid_ = errors_ < 0 ? -1 : fork();
  if (pid_ == 0) become(pointers.data(), sockets[1], errors_, end_with_thread);
  close(sockets[1]);
  socket_ = sockets[0];
  if (pid_ < 0) {
    close(socket_);
    if (errors_ >= 0) close(errors_);
    throw Error(ErrorCode::resource_exhausted, std::string("cannot start ssh: ") + strerror(errno));
  }
}

SshProcess::~SshProcess() {
  if (socket_ >= 0) close(socket_);
  for (const int number : {0, SIGTERM, SIGKILL}) {
    if (pid_ >= 0 && number != 0) kill(pid_, number);
    if (wait_for_end(milliseconds(number == SIGKILL ? 10'000 : 2'000))) break;
  }
  close(errors_);
}

std::string SshProcess::answer(const std::string& marker) {
  while (skipped_ + received_.size() < kMaxNoise) {
    for (std::size_t end; (end = received_.find('\n')) != std::string::npos;) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (line.rfind(marker, 0) == 0) return printable(line.substr(marker.size()));
      skipped_ += line.size() + 1;
    }
    wait_for_bytes();
    std::array<char, 4096> bytes;
    const ssize_t count = read(socket_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    received_.append(bytes.data(), static_cast<std::size_t>(count));
  }
  if (skipped_ + received_.size() >= kMaxNoise) {
    throw Error(ErrorCode::protocol_error, name_ + ": expected at most " + std::to_string(kMaxNoise) +
                                               " bytes that its login prints before an answer, got more");
  }
  fail();
}

void SshProcess::wait_for_bytes() {
  const bool is_timed = options_.timeout.count() > 0;
  if (!is_timed && options_.cancelled < 0) return;
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(start_ + options_.timeout - Clock::now());
    if (is_timed && left.count() <= 0) {
      throw Error(ErrorCode::deadline_exceeded,
                  name_ + " has not answered within " + std::to_string(options_.timeout.count()) + " ms");
    }
    pollfd waiting[2] = {{socket_, POLLIN, 0}, {options_.cancelled, POLLIN, 0}};
    const int count = poll(waiting, 2, is_timed ? static_cast<int>(left.count()) : -1);
    if (waiting[1].revents != 0 && count > 0) throw Error(ErrorCode::aborted, name_ + ": cancelled");
    if (count > 0) return;
  }
}

bool SshProcess::write(const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

bool SshProcess::send(const std::string& bytes) { return write(bytes) && shutdown(socket_, SHUT_WR) == 0; }

int SshProcess::take_socket() { return std::exchange(socket_, -1); }

void SshProcess::check_running() {
  if (wait_for_end(milliseconds(500)) && status_ != 0) fail();
}

void SshProcess::fail() {
  const bool ended = wait_for_end(milliseconds(1000));
  const int code = ended && WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
  const std::string said = words();
  if (code == kSshCannotStart) {
    const char* named = getenv("FERRY_SSH");
    throw Error(ErrorCode::unavailable, name_ + ": cannot run '" + (named != nullptr && *named != 0 ? named : "ssh") +
                                            "': " + (said.empty() ? "it is not found" : said) +
                                            "; install OpenSSH's client, or name one with FERRY_SSH");
  }
  std::string message = name_ + ": ";
  message += said.empty() ? "ssh ended without a word" : "ssh says: " + said;
  throw Error(ErrorCode::unavailable, message + advice(said, login_));
}

bool SshProcess::wait_for_end(milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  auto nap = std::chrono::microseconds(100);
  while (pid_ >= 0) {
    if (waitpid(pid_, &status_, WNOHANG) != 0) {
      pid_ = -1;
      break;
    }
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(nap);
    nap = std::min(nap * 2, std::chrono::microseconds(10'000));
  }
  return true;
}

// Returns the last lines that ssh and the board wrote to standard error.
std::string SshProcess::words() const {
  constexpr off_t kMost = 2000;
  const off_t size = lseek(errors_, 0, SEEK_END);
  const off_t from = size > kMost ? size - kMost : 0;
  std::string text(static_cast<std::size_t>(size - from), 0);
  const ssize_t count = pread(errors_, text.data(), text.size(), from);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  std::erase(text, '\r');
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return printable_lines(text);
}

}  // namespace ferry::session
