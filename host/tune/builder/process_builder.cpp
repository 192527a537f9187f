#include "host/tune/builder/process_builder.h"

#include "ferry/error.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <span>
#include <utility>

namespace ferry::tune {

namespace {

// A process ends after so many builds, so that what they leave behind stays little.
constexpr unsigned kMostBuilds = 200;

// Returns the text as build_process.h has it.
std::string request_of(const PointInOrder& point) {
  std::string text(sizeof(std::uint32_t), '\0');
  for (const std::string& value : point) text.append(value).push_back('\0');
  const auto size = static_cast<std::uint32_t>(text.size() - sizeof(std::uint32_t));
  std::memcpy(text.data(), &size, sizeof size);
  return text;
}

// A process that has ended does not take all of it.
void send_request(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

// Returns what was sent; nothing if the other end closed before it was complete. Calls `wake` several times a second
// meanwhile.
std::optional<BuildResult> read_answer(int socket, const std::function<void()>& wake) {
  constexpr int kWakeMs = 100;
  const auto read_all = [&](std::span<std::uint8_t> into) {
    while (!into.empty()) {
      pollfd waited{socket, POLLIN, 0};
      if (poll(&waited, 1, kWakeMs) == 0) {
        wake();
        continue;
      }
      const ssize_t got = read(socket, into.data(), into.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      into = into.subspan(static_cast<std::size_t>(got));
    }
    return true;
  };
  std::array<std::uint8_t, kAnswerHeadBytes> head{};
  if (!read_all(head)) return std::nullopt;
  std::uint64_t size = 0;
  std::memcpy(&size, head.data() + 1, sizeof size);
  constexpr std::uint64_t kMostBytes = 1 << 30;
  if (size > kMostBytes) return std::nullopt;
  ModuleBytes bytes(size);
  if (!read_all(bytes)) return std::nullopt;
  switch (BuildAnswer{head[0]}) {
    case BuildAnswer::module: return bytes;
    case BuildAnswer::refused: return Failure{Outcome::refused, std::string(bytes.begin(), bytes.end())};
    case BuildAnswer::hung: return Failure{Outcome::hung, ""};
  }
  return std::nullopt;
}

}  // namespace

ProcessBuilder::ProcessBuilder(const Compile& compile, BuildLimits limits) : limits_(limits) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error(ErrorCode::resource_exhausted, std::string("cannot start processes that compile: ") + strerror(errno));
  requests_ = Descriptor(ends[0]);
  Descriptor theirs(ends[1]);
  forker_ = fork();
  if (forker_ == 0) fork_builds(compile, std::move(theirs), limits_);
  if (forker_ < 0)
    throw Error(ErrorCode::resource_exhausted, std::string("cannot start processes that compile: ") + strerror(errno));
  setpgid(forker_, forker_);  // it does the same itself, maybe later
}

ProcessBuilder::~ProcessBuilder() {
  kill(-forker_, SIGKILL);
  waitpid(forker_, nullptr, 0);
}

std::optional<ProcessBuilder::Worker> ProcessBuilder::take_worker() {
  const std::lock_guard lock(mutex_);
  if (!free_.empty()) {
    Worker worker = std::move(free_.back());
    free_.pop_back();
    return worker;
  }
  Worker worker{ask_for_build_process(requests_.number())};
  return worker.socket.number() < 0 ? std::nullopt : std::optional(std::move(worker));
}

void ProcessBuilder::give_back(Worker worker) {
  if (++worker.builds == kMostBuilds) return;
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(worker));
}

BuildResult ProcessBuilder::build(const PointInOrder& point) {
  const std::string request = request_of(point);
  if (request.size() > kMostRequestBytes) return Failure{Outcome::refused, "the point is too long"};
  std::optional<Worker> worker = take_worker();
  if (!worker) return Failure{Outcome::crashed, std::string("no process could be started: ") + strerror(errno)};
  send_request(worker->socket.number(), request);
  // A process that is forked while its group is stopped and goes on may stay stopped (seen on Linux 6.18).
  const auto wake = [&] {
    const std::lock_guard lock(mutex_);
    if (pauses_ == 0) kill(-forker_, SIGCONT);
  };
  std::optional<BuildResult> found = read_answer(worker->socket.number(), wake);
  if (!found) return Failure{Outcome::crashed, "the compiler crashed"};
  if (auto* failure = std::get_if<Failure>(&*found)) {
    if (failure->outcome == Outcome::hung)
      failure->reason = "it was not compiled within " + std::to_string(limits_.seconds) + " s of processor time";
  } else {
    give_back(*std::move(worker));
  }
  return *std::move(found);
}

void ProcessBuilder::pause() {
  const std::lock_guard lock(mutex_);
  if (pauses_++ == 0) kill(-forker_, SIGSTOP);
}

void ProcessBuilder::resume() {
  const std::lock_guard lock(mutex_);
  if (--pauses_ == 0) kill(-forker_, SIGCONT);
}

}  // namespace ferry::tune
