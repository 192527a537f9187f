#include "farm/hooks/command.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/descriptor.h"
#include "base/exec_words.h"
#include "base/format.h"
#include "base/printable.h"

namespace ferry::farm {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr const char* kInherited[] = {"PATH", "HOME", "USER", "LANG", "TZ"};

std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> variables;
  for (const char* name : kInherited)
    if (const char* value = std::getenv(name); value != nullptr && !command.environment.contains(name))
      variables.push_back(std::string(name) + '=' + value);
  for (const auto& [name, value] : command.environment) variables.push_back(name + '=' + value);
  return variables;
}

// How a new process starts: in a group of its own, with default signals, without input, and with its output in a pipe.
class SpawnSettings {
 public:
  explicit SpawnSettings(int output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// Reads what has arrived. Returns false at the end.
bool drain(int pipe, std::string& output) {
  char buffer[4096];
  while (true) {
    const ssize_t count = read(pipe, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN;
    if (count == 0) return false;
    output.append(buffer, std::min(static_cast<std::size_t>(count), kMaxCommandOutput - output.size()));
  }
}

// Reads the output until the process ends. Returns whether it did in time.
bool wait_for_end(int process, int pipe, SteadyTime deadline, std::string& output) {
  pollfd events[] = {{process, POLLIN, 0}, {pipe, POLLIN, 0}};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    const int ready = poll(events, 2, static_cast<int>(std::min<std::int64_t>(left.count(), 60'000)));
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    const bool has_ended = events[0].revents != 0;
    if (events[1].revents != 0 && !drain(pipe, output)) events[1].fd = -1;
    if (has_ended) return true;
  }
}

// The end of a message, in which the output follows.
std::string with_output(const std::string& message, const std::string& output) {
  const std::string shown = printable(output);
  return shown.empty() ? message : message + ": " + shown;
}

Result<std::string> outcome_of(const std::string& name, int status, const std::string& output) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
  const std::string how = WIFSIGNALED(status)
                              ? format("was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)))
                              : format("failed with status %d", WEXITSTATUS(status));
  return Status(ErrorCode::unavailable, with_output(name + " " + how, output));
}

Status check(const Command& command) {
  if (command.words.empty() || command.words.front().empty())
    return {ErrorCode::invalid_argument, "expected a program, got no command"};
  if (command.words.size() > kMaxCommandWords)
    return {ErrorCode::invalid_argument,
            format("expected a command of at most %zu words, got %zu", kMaxCommandWords, command.words.size())};
  for (const std::string& word : command.words)
    if (word.size() > kMaxWordBytes || word.find('\0') != std::string::npos)
      return {ErrorCode::invalid_argument, format("expected words of at most %zu bytes without NUL", kMaxWordBytes)};
  for (const auto& [name, value] : command.environment)
    if (name.empty() || name.find('=') != std::string::npos || (name + value).find('\0') != std::string::npos)
      return {ErrorCode::invalid_argument, "expected variables without NUL, with a name"};
  return {};
}

}  // namespace

Result<std::vector<std::string>> fill_in(const std::vector<std::string>& words,
                                         const std::map<std::string, std::string>& values) {
  std::vector<std::string> filled;
  for (const std::string& word : words) {
    std::string& text = filled.emplace_back();
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t end = word[at] == '{' && filled.size() > 1 ? word.find('}', at) : std::string::npos;
      if (end == std::string::npos) {
        text += word[at++];
        continue;
      }
      const std::string name = word.substr(at + 1, end - at - 1);
      const auto value = values.find(name);
      if (value == values.end()) {
        std::string known;
        for (const auto& [one, ignored] : values) known += (known.empty() ? "{" : ", {") + one + '}';
        return Status(ErrorCode::invalid_argument, format("expected %s in a command, got {%s}", known.c_str(),
                                                          printable(name.substr(0, 64)).c_str()));
      }
      text += value->second;
      at = end + 1;
    }
  }
  return filled;
}

Result<std::string> run_command(const Command& command) {
  FERRY_TRY(check(command));
  const SteadyTime deadline = std::chrono::steady_clock::now() + command.timeout;
  std::vector<std::string> words = command.words, variables = environment_of(command);
  const std::string name = printable(words.front());
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return Status(ErrorCode::resource_exhausted, format("cannot run %s: %s", name.c_str(), std::strerror(errno)));
  const Descriptor output_end(ends[0]);
  Descriptor input_end(ends[1]);
  fcntl(output_end.number(), F_SETFL, O_NONBLOCK);

  const SpawnSettings settings(input_end.number());
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, words.front().c_str(), settings.actions(), settings.attributes(),
                                 exec_words(words).data(), exec_words(variables).data());
  input_end = Descriptor();
  if (error != 0)
    return Status(error == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable,
                  format("cannot run %s: %s", name.c_str(), std::strerror(error)));

  std::string output;
  const Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  const int open_error = process.number() >= 0 ? 0 : errno;
  const bool has_ended = open_error == 0 && wait_for_end(process.number(), output_end.number(), deadline, output);
  if (!has_ended) kill(-pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  drain(output_end.number(), output);
  if (open_error != 0)
    return Status(ErrorCode::resource_exhausted,
                  format("cannot wait for %s: %s", name.c_str(), std::strerror(open_error)));
  if (has_ended) return outcome_of(name, status, output);
  return Status(ErrorCode::deadline_exceeded,
                with_output(format("%s took longer than %g s and was killed", name.c_str(),
                                   std::chrono::duration<double>(command.timeout).count()),
                            output));
}

}  // namespace ferry::farm
