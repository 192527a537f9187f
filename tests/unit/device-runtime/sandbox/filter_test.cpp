// What each of the two filters of system calls lets through, tried in a process of its own, since a filter is for good.
#include "device-runtime/sandbox/filter.h"

#include <doctest/doctest.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <thread>

namespace ferry::device {
namespace {

// 0, or the errno with which it failed; -1 when there are no filters here.
int tried(Filter filter, const std::function<bool()>& attempt) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!install_filter(filter).empty()) _exit(255);
    _exit(attempt() ? 0 : errno);
  }
  int how = 0;
  REQUIRE(waitpid(child, &how, 0) == child);
  REQUIRE(WIFEXITED(how));
  return WEXITSTATUS(how) == 255 ? -1 : WEXITSTATUS(how);
}

bool has_filters() {
  if (tried(Filter::strict, [] { return true; }) == 0) return true;
  MESSAGE("skipped: there is no seccomp here");
  return false;
}

bool start_program() {
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/true", "true", nullptr);
    _exit(1);
  }
  int how = 0;
  return child > 0 && waitpid(child, &how, 0) == child && WIFEXITED(how) && WEXITSTATUS(how) == 0;
}

bool local_socket() { return socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }

bool connect_locally() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int end = socket(AF_UNIX, SOCK_STREAM, 0);
  // Nobody listens there, which is not the filter's doing.
  return end >= 0 && (connect(end, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 || errno != EPERM);
}

// As CUDA's driver does, under a name of no file.
bool listen_locally() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int end = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  return end >= 0 && bind(end, reinterpret_cast<sockaddr*>(&address), sizeof(sa_family_t)) == 0 && listen(end, 1) == 0;
}

TEST_CASE("threads, files and signals to oneself are allowed in every session") {
  if (!has_filters()) return;
  for (const Filter filter : {Filter::strict, Filter::gpu}) {
    CHECK(tried(filter, [] {
            bool ran = false;
            std::thread([&] { ran = true; }).join();
            return ran && access("/", R_OK) == 0 && kill(getpid(), 0) == 0;
          }) == 0);
  }
}

TEST_CASE("a session with a GPU may start programs and talk to local services, another one may not") {
  if (!has_filters()) return;
  CHECK(tried(Filter::gpu, start_program) == 0);
  CHECK(tried(Filter::gpu, local_socket) == 0);
  CHECK(tried(Filter::gpu, connect_locally) == 0);
  CHECK(tried(Filter::gpu, listen_locally) == 0);
  CHECK(tried(Filter::strict, start_program) == EPERM);
  CHECK(tried(Filter::strict, local_socket) == EPERM);
}

TEST_CASE("the network, other processes and the machine are out of reach of both") {
  if (!has_filters()) return;
  const pid_t parent = getpid();
  for (const Filter filter : {Filter::strict, Filter::gpu}) {
    CHECK(tried(filter, [] { return socket(AF_INET, SOCK_STREAM, 0) >= 0; }) == EPERM);
    CHECK(tried(filter, [] { return socket(AF_NETLINK, SOCK_RAW, 0) >= 0; }) == EPERM);
    CHECK(tried(filter, [=] { return ptrace(PTRACE_ATTACH, parent, nullptr, nullptr) == 0; }) == EPERM);
    CHECK(tried(filter, [] { return mount("none", "/mnt", "tmpfs", 0, nullptr) == 0; }) == EPERM);
    CHECK(tried(filter, [] { return setsid() >= 0; }) == EPERM);
    CHECK(tried(filter, [] {
            const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
            return setrlimit(RLIMIT_CORE, &none) == 0;
          }) == EPERM);
  }
}

}  // namespace
}  // namespace ferry::device
