#include "host/tune/foreign/child_process.h"

#include "base/exec_words.h"
#include "ferry/error.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

namespace ferry::tune {

namespace {

constexpr std::chrono::milliseconds kPatience{1000};

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorCode::resource_exhausted, what + ": " + std::strerror(errno));
}

std::pair<Descriptor, Descriptor> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail("cannot start a searcher");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// Returns -1 if it cannot be started.
pid_t spawn(const std::string& command, int input, int output) {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const std::vector<std::string> words{"sh", "-c", command};
  pid_t pid = -1;
  const int error = posix_spawn(&pid, "/bin/sh", &actions, &attributes, exec_words(words).data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  errno = error;
  return error == 0 ? pid : -1;
}

}  // namespace

ChildProcess::ChildProcess(const std::string& command, LineLimits limits) : limits_(limits) {
  woken_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (woken_.number() < 0) fail("cannot start a searcher");
  auto [their_input, input] = make_pipe();
  auto [output, their_output] = make_pipe();
  pid_ = spawn(command, their_input.number(), their_output.number());
  if (pid_ < 0) fail("cannot start a searcher");
  input_ = std::move(input);
  output_ = std::move(output);
  for (const Descriptor* end : {&input_, &output_}) fcntl(end->number(), F_SETFL, O_NONBLOCK);
}

void ChildProcess::start(OnLine on_line, std::function<void()> on_end) {
  on_line_ = std::move(on_line);
  on_end_ = std::move(on_end);
  thread_ = std::thread([this] { exchange(); });
}

ChildProcess::~ChildProcess() {
  {
    const std::lock_guard lock(mutex_);
    must_end_ = true;
  }
  (void)eventfd_write(woken_.number(), 1);
  if (thread_.joinable()) thread_.join();
  input_ = Descriptor();
  output_ = Descriptor();
  (void)wait_for_end();
  if (pid_ >= 0) {
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

void ChildProcess::send(std::string line) {
  {
    const std::lock_guard lock(mutex_);
    if (has_ended_ || is_deaf_) return;
    unsent_ += std::move(line) + "\n";
  }
  (void)eventfd_write(woken_.number(), 1);
}

bool ChildProcess::has_ended() {
  const std::lock_guard lock(mutex_);
  return has_ended_;
}

std::string ChildProcess::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void ChildProcess::end(const std::string& failure) {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    failure_ = failure;
    unsent_.clear();
  }
  on_end_();
}

void ChildProcess::exchange() {
  try {
    while (true) {
      std::array<pollfd, 3> events{{{woken_.number(), POLLIN, 0}, {output_.number(), POLLIN, 0}, {-1, POLLOUT, 0}}};
      {
        const std::lock_guard lock(mutex_);
        if (must_end_) return;
        if (unsent_.size() > limits_.unread_bytes)
          throw Error(ErrorCode::resource_exhausted, "it does not read what it is sent");
        if (!unsent_.empty()) events[2].fd = input_.number();
      }
      if (poll(events.data(), events.size(), -1) < 0 && errno != EINTR) fail("it cannot be waited for");
      eventfd_t ignored = 0;
      (void)eventfd_read(woken_.number(), &ignored);
      if (events[2].revents != 0) write_lines();
      if (events[1].revents != 0 && !read_lines()) break;
    }
    end(wait_for_end());
  } catch (const std::exception& error) {
    end(error.what());
  }
}

// A program that does not read any more may still have written something.
void ChildProcess::write_lines() {
  const std::lock_guard lock(mutex_);
  // A signal would end this process.
  sigset_t pipe, before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  const ssize_t count = write(input_.number(), unsent_.data(), unsent_.size());
  const int error = errno;
  if (count < 0 && error == EPIPE) {
    const timespec now{};
    sigtimedwait(&pipe, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (count > 0) unsent_.erase(0, static_cast<std::size_t>(count));
  is_deaf_ = count < 0 && error != EAGAIN && error != EINTR;
  if (is_deaf_) unsent_.clear();
}

// Returns false at the end of what the program writes.
bool ChildProcess::read_lines() {
  std::array<char, 65'536> buffer;
  const ssize_t count = read(output_.number(), buffer.data(), buffer.size());
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  received_.append(buffer.data(), static_cast<std::size_t>(count));
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = received_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    ++line_;
    const std::string_view line = std::string_view(received_).substr(begin, end - begin);
    if (line.size() > limits_.line_bytes) break;
    try {
      on_line_(line);
    } catch (const Error& error) {
      throw Error(error.code(), "line " + std::to_string(line_) + ": " + error.what());
    }
  }
  received_.erase(0, begin);
  if (received_.size() > limits_.line_bytes)
    throw Error(ErrorCode::invalid_argument,
                "expected lines of at most " + std::to_string(limits_.line_bytes) + " bytes, got a longer one");
  return true;
}

// Returns how the program failed; empty if it did not, or goes on for long.
std::string ChildProcess::wait_for_end() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  int status = 0;
  while (pid_ >= 0) {
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      break;
    }
    if (std::chrono::steady_clock::now() > deadline) return "";
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (WIFSIGNALED(status)) return "it was ended by signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : "it failed with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace ferry::tune
