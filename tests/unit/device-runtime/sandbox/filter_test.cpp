// Tests which system calls each of the two filters allows, each in a separate process, since a filter is permanent.
#include "device-runtime/sandbox/filter.h"

#include <asm/ioctls.h>
#include <asm/sockios.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <thread>

namespace ferry::device {
namespace {

// Returns 0, or the errno of the failed attempt; -1 if filters are not available.
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
  // Nobody listens there, so connect() may fail for reasons other than the filter.
  return end >= 0 && (connect(end, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 || errno != EPERM);
}

// Listens on an unnamed local address, as CUDA's driver does.
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

bool map_memory(int flags) {
  return mmap(nullptr, 4096, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

TEST_CASE("signals by descriptors and what outlives the session are out of reach of both") {
  if (!has_filters()) return;
  const pid_t parent = getpid();
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const int end = ends[0];
  for (const Filter filter : {Filter::strict, Filter::gpu}) {
    CHECK(tried(filter, [=] { return fcntl(end, F_SETOWN, parent) == 0; }) == EPERM);
    CHECK(tried(filter, [=] { return fcntl(end, F_SETSIG, SIGKILL) == 0; }) == EPERM);
    CHECK(tried(filter, [=] { return ioctl(end, FIOSETOWN, &parent) == 0; }) == EPERM);
    CHECK(tried(filter, [=] { return fcntl(end, F_SETFD, FD_CLOEXEC) == 0; }) == 0);
    CHECK(tried(filter, [=] {
            int waiting = 0;
            return ioctl(end, FIONREAD, &waiting) == 0;
          }) == 0);
    CHECK(tried(filter, [] { return shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600) >= 0; }) == EPERM);
    CHECK(tried(filter, [] { return setpriority(PRIO_PROCESS, 0, 5) == 0; }) == EPERM);
  }
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("memory that no limit counts, and the cores of others, are a GPU driver's alone") {
  if (!has_filters()) return;
  const pid_t parent = getpid();
  const auto move = [](pid_t process) {
    cpu_set_t cores;
    return sched_getaffinity(0, sizeof cores, &cores) == 0 && sched_setaffinity(process, sizeof cores, &cores) == 0;
  };
  CHECK(tried(Filter::strict, [] { return memfd_create("memory", 0) >= 0; }) == EPERM);
  CHECK(tried(Filter::strict, [] { return map_memory(MAP_SHARED); }) == EPERM);
  CHECK(tried(Filter::strict, [] { return map_memory(MAP_PRIVATE | MAP_GROWSDOWN); }) == EPERM);
  CHECK(tried(Filter::strict, [=] { return move(parent); }) == EPERM);
  CHECK(tried(Filter::strict, [] { return map_memory(MAP_PRIVATE); }) == 0);
  CHECK(tried(Filter::strict, [=] { return move(0); }) == 0);
  CHECK(tried(Filter::gpu, [] { return memfd_create("memory", 0) >= 0; }) == 0);
  CHECK(tried(Filter::gpu, [] { return map_memory(MAP_SHARED); }) == 0);
  CHECK(tried(Filter::gpu, [=] { return move(getpid()); }) == 0);
}

}  // namespace
}  // namespace ferry::device
