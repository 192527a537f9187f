#include "host/tune/builder/process_builder.h"

#include "base/write_all.h"
#include "ferry/error.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <span>

namespace ferry::tune {

namespace {

// A result is one of these bytes, the number of bytes that follow, and these: a module, or a reason.
enum class Kind : std::uint8_t { module = 1, refused = 2, hung = 3 };
constexpr std::size_t kHeadBytes = 1 + sizeof(std::uint64_t);
constexpr std::size_t kMostRequest = 64 << 10;
// Builds take what tuning's other parts leave of the processor.
constexpr int kNice = 10;

void send_result(int result, Kind kind, std::span<const std::uint8_t> bytes) {
  std::uint8_t head[kHeadBytes] = {static_cast<std::uint8_t>(kind)};
  const std::uint64_t size = bytes.size();
  std::memcpy(head + 1, &size, sizeof size);
  if (write_all(result, head)) write_all(result, bytes);
}

void send_result(int result, Kind kind, std::string_view text) {
  send_result(result, kind, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

int result_of_this_build = -1;

void on_time_over(int) {
  std::uint8_t head[kHeadBytes] = {static_cast<std::uint8_t>(Kind::hung)};
  (void)!write(result_of_this_build, head, sizeof head);
  _exit(0);
}

[[noreturn]] void build_one(const Compile& compile, const PointInOrder& point, int result, const BuildLimits& limits) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGCHLD, SIG_DFL);
  result_of_this_build = result;
  std::signal(SIGXCPU, on_time_over);
  const rlimit seconds{limits.seconds, limits.seconds + 1};
  setrlimit(RLIMIT_CPU, &seconds);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  try {
    const ModuleBytes module = compile(point);
    send_result(result, Kind::module, module);
  } catch (const std::exception& error) {
    send_result(result, Kind::refused, std::string_view(error.what()));
  }
  _exit(0);
}

// Receives a point, and the pipe that takes its result. Returns false at the end of requests.
bool receive_request(int requests, PointInOrder& point, Descriptor& result) {
  std::vector<char> text(kMostRequest);
  iovec part{text.data(), text.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got = -1;
  do got = recvmsg(requests, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  const cmsghdr* passed = CMSG_FIRSTHDR(&message);
  if (got <= 0 || passed == nullptr) return false;
  int number = -1;
  std::memcpy(&number, CMSG_DATA(passed), sizeof number);
  result = Descriptor(number);
  // Each value ends with a zero; the last byte of the message is one more.
  point.clear();
  for (std::size_t start = 0; start + 1 < static_cast<std::size_t>(got);) {
    point.emplace_back(text.data() + start);
    start += point.back().size() + 1;
  }
  return true;
}

[[noreturn]] void fork_builds(const Compile& compile, Descriptor requests, const BuildLimits& limits) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A group of its own: it is stopped as a whole, and a terminal's Ctrl-C does not reach it.
  setpgid(0, 0);
  std::signal(SIGCHLD, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  (void)!setpriority(PRIO_PROCESS, 0, kNice);
  // A crash of the compiler is the result of a build; its output belongs on nobody's terminal.
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, number);
  // Connections of the process before must not stay open here.
  constexpr int kFirst = STDERR_FILENO + 1;
  if (requests.number() != kFirst) dup2(requests.number(), kFirst);
  close_range(kFirst + 1, ~0U, 0);
  PointInOrder point;
  Descriptor result;
  while (receive_request(kFirst, point, result)) {
    if (fork() == 0) build_one(compile, point, result.number(), limits);
    result = Descriptor();
  }
  _exit(0);
}

// Returns what was sent; nothing if the other end closed before it was complete. Calls `wake` several times a second
// meanwhile.
std::optional<BuildResult> read_result(int result, const std::function<void()>& wake) {
  constexpr int kWakeMs = 100;
  const auto read_all = [&](std::span<std::uint8_t> into) {
    while (!into.empty()) {
      pollfd waited{result, POLLIN, 0};
      if (poll(&waited, 1, kWakeMs) == 0) {
        wake();
        continue;
      }
      const ssize_t got = read(result, into.data(), into.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      into = into.subspan(static_cast<std::size_t>(got));
    }
    return true;
  };
  std::array<std::uint8_t, kHeadBytes> head{};
  if (!read_all(head)) return std::nullopt;
  std::uint64_t size = 0;
  std::memcpy(&size, head.data() + 1, sizeof size);
  constexpr std::uint64_t kMostBytes = 1 << 30;
  if (size > kMostBytes) return std::nullopt;
  ModuleBytes bytes(size);
  if (!read_all(bytes)) return std::nullopt;
  switch (Kind{head[0]}) {
    case Kind::module: return bytes;
    case Kind::refused: return Failure{Outcome::refused, std::string(bytes.begin(), bytes.end())};
    case Kind::hung: return Failure{Outcome::hung, ""};
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

BuildResult ProcessBuilder::build(const PointInOrder& point) {
  const Failure no_process{Outcome::crashed, "there is no process that compiles any more"};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return Failure{Outcome::crashed, std::string("no process could be started: ") + strerror(errno)};
  Descriptor result(ends[0]), theirs(ends[1]);
  std::string text;
  for (const std::string& value : point) text.append(value).push_back('\0');
  text.push_back('\0');
  if (text.size() > kMostRequest) return Failure{Outcome::refused, "the point is too long"};
  iovec part{text.data(), text.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* passed = CMSG_FIRSTHDR(&message);
  passed->cmsg_level = SOL_SOCKET;
  passed->cmsg_type = SCM_RIGHTS;
  passed->cmsg_len = CMSG_LEN(sizeof(int));
  const int number = theirs.number();
  std::memcpy(CMSG_DATA(passed), &number, sizeof number);
  if (sendmsg(requests_.number(), &message, MSG_NOSIGNAL) < 0) return no_process;
  theirs = Descriptor();
  // A process that is forked while its group is stopped and goes on may stay stopped (seen on Linux 6.18).
  const auto wake = [&] {
    const std::lock_guard lock(mutex_);
    if (pauses_ == 0) kill(-forker_, SIGCONT);
  };
  std::optional<BuildResult> found = read_result(result.number(), wake);
  if (!found) return Failure{Outcome::crashed, "the compiler crashed"};
  if (auto* failure = std::get_if<Failure>(&*found); failure != nullptr && failure->outcome == Outcome::hung)
    failure->reason = "it was not compiled within " + std::to_string(limits_.seconds) + " s of processor time";
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
