#include "host/tune/builder/build_process.h"

#include "base/write_all.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <string_view>

namespace ferry::tune {

namespace {

// Builds take what tuning's other parts leave of the processor.
constexpr int kNice = 10;

// Returns false at the end of what is sent.
bool read_all(int socket, std::span<std::uint8_t> into) {
  while (!into.empty()) {
    const ssize_t got = read(socket, into.data(), into.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into = into.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

bool read_point(int socket, PointInOrder& point) {
  std::array<std::uint8_t, sizeof(std::uint32_t)> head{};
  if (!read_all(socket, head)) return false;
  std::uint32_t size = 0;
  std::memcpy(&size, head.data(), sizeof size);
  if (size > kMostRequestBytes) return false;
  std::string text(size, '\0');
  if (!read_all(socket, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()})) return false;
  point.clear();
  for (std::size_t start = 0; start < text.size(); start += point.back().size() + 1)
    point.emplace_back(text.c_str() + start);
  return true;
}

void send_answer(int socket, BuildAnswer answer, std::span<const std::uint8_t> bytes) {
  std::uint8_t head[kAnswerHeadBytes] = {static_cast<std::uint8_t>(answer)};
  const std::uint64_t size = bytes.size();
  std::memcpy(head + 1, &size, sizeof size);
  if (write_all(socket, head)) write_all(socket, bytes);
}

int socket_of_this_process = -1;

void on_time_over(int) {
  std::uint8_t head[kAnswerHeadBytes] = {static_cast<std::uint8_t>(BuildAnswer::hung)};
  (void)!write(socket_of_this_process, head, sizeof head);
  _exit(0);
}

// Calls on_time_over() after so many seconds of processor time of all threads; 0: never.
void set_time_limit(unsigned seconds) {
  itimerval limit{};
  limit.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &limit, nullptr);
}

// Memory that a build has freed is for the next one. To take it from the system again costs 2,000 page faults a build.
void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kKept = 256 << 20, kLargestPart = 32 << 20;
  mallopt(M_TRIM_THRESHOLD, kKept);
  mallopt(M_MMAP_THRESHOLD, kLargestPart);
#endif
}

[[noreturn]] void build_points(const Compile& compile, int socket, const BuildLimits& limits) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGCHLD, SIG_DFL);
  socket_of_this_process = socket;
  std::signal(SIGPROF, on_time_over);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  keep_freed_memory();
  PointInOrder point;
  while (read_point(socket, point)) {
    set_time_limit(limits.seconds);
    try {
      const ModuleBytes module = compile(point);
      set_time_limit(0);
      send_answer(socket, BuildAnswer::module, module);
    } catch (const std::exception& error) {
      set_time_limit(0);
      const std::string_view reason = error.what();
      send_answer(socket, BuildAnswer::refused, {reinterpret_cast<const std::uint8_t*>(reason.data()), reason.size()});
      break;
    }
  }
  _exit(0);
}

// Returns the descriptor that comes with the next message; none at the end of messages.
Descriptor receive_socket(int sockets) {
  char nothing = 0;
  iovec part{&nothing, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got = -1;
  do got = recvmsg(sockets, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  const cmsghdr* passed = CMSG_FIRSTHDR(&message);
  if (got <= 0 || passed == nullptr) return {};
  int number = -1;
  std::memcpy(&number, CMSG_DATA(passed), sizeof number);
  return Descriptor(number);
}

}  // namespace

void fork_builds(const Compile& compile, Descriptor sockets, const BuildLimits& limits) {
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
  if (sockets.number() != kFirst) dup2(sockets.number(), kFirst);
  close_range(kFirst + 1, ~0U, 0);
  while (true) {
    const Descriptor socket = receive_socket(kFirst);
    if (socket.number() < 0) _exit(0);
    if (fork() != 0) continue;
    close(kFirst);
    build_points(compile, socket.number(), limits);
  }
}

Descriptor ask_for_build_process(int forker) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return {};
  Descriptor ours(ends[0]);
  const Descriptor theirs(ends[1]);
  char nothing = 0;
  iovec part{&nothing, 1};
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
  if (sendmsg(forker, &message, MSG_NOSIGNAL) < 0) return {};
  return ours;
}

}  // namespace ferry::tune
