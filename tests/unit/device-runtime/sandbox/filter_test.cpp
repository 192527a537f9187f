// Tests which system calls each of the two filters allows, each in a separate process, since a filter is permanent.
#include "device-runtime/sandbox/filter.h"

#include <asm/ioctls.h>
#include <asm/sockios.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <initializer_list>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

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

TEST_CASE("threads and signals to oneself are allowed in every session") {
  if (!has_filters()) return;
  for (const Filter filter : {Filter::strict, Filter::gpu}) {
    CHECK(tried(filter, [] {
            bool ran = false;
            std::thread([&] { ran = true; }).join();
            return ran && kill(getpid(), 0) == 0;
          }) == 0);
  }
}

TEST_CASE("every call that a filter refuses or hides gets its answer, whatever its number") {
  if (!has_filters()) return;
  struct Listed {
    const char* name;
    long number;
    std::string_view strict, gpu;
  };
#define FERRY_CALL(name, strict, gpu) {#name, __NR_##name, #strict, #gpu},
#define FERRY_ARM_CALL(name) {#name, __ARM_NR_##name, "allow", "allow"},
  static constexpr Listed kListed[] = {
#include "device-runtime/sandbox/system_calls.def"
  };
#undef FERRY_CALL
#undef FERRY_ARM_CALL
  const auto answer = [](Filter filter, long number) { return tried(filter, [&] { return syscall(number) >= 0; }); };
  std::set<long> numbers;
  for (const Listed& call : kListed) {
    CAPTURE(call.name);
    numbers.insert(call.number);
    if (call.strict == "refuse") CHECK(answer(Filter::strict, call.number) == EPERM);
    if (call.strict == "missing") CHECK(answer(Filter::strict, call.number) == ENOSYS);
    if (call.gpu == "refuse") CHECK(answer(Filter::gpu, call.number) == EPERM);
    if (call.gpu == "missing") CHECK(answer(Filter::gpu, call.number) == ENOSYS);
  }
  CHECK(numbers.size() > 100);
#if !defined(__SANITIZE_ADDRESS__)
#if defined(__x86_64__)
  // uretprobe and uprobe pass every filter since Linux 6.14, and end a process that no probe has stopped.
  numbers.insert({335, 336});
#endif
  for (long number = 0; number < 470; ++number) {
    CAPTURE(number);
    if (!numbers.contains(number)) CHECK(answer(Filter::strict, number) == ENOSYS);
  }
#endif
}

TEST_CASE("no system call of the strict filter takes a path, and those with a GPU take them all") {
  if (!has_filters()) return;
  const std::initializer_list<std::pair<const char*, std::function<bool()>>> attempts = {
      {"open", [] { return open("/dev/null", O_RDONLY) >= 0; }},
      {"stat",
       [] {
         struct stat info;
         return stat("/", &info) == 0;
       }},
      {"access", [] { return access("/", R_OK) == 0; }},
      {"statfs",
       [] {
         struct statfs info;
         return statfs("/", &info) == 0;
       }},
      {"statx",
       [] {
         struct statx info;
         return statx(AT_FDCWD, "/", 0, STATX_MODE, &info) == 0;
       }},
      {"readlink",
       [] {
         char text[200];
         return readlink("/proc/self/exe", text, sizeof text) > 0;
       }},
      {"chdir", [] { return chdir("/") == 0; }},
      {"getxattr",
       [] { return getxattr("/", "user.none", nullptr, 0) >= 0 || errno == ENODATA || errno == EOPNOTSUPP; }},
  };
  for (const auto& [name, attempt] : attempts) {
    CAPTURE(name);
    CHECK(tried(Filter::strict, attempt) == ENOSYS);
    CHECK(tried(Filter::gpu, attempt) == 0);
  }
  // These change files; none of them gets as far as to look whether its file exists.
  for (const auto& [name, attempt] : std::initializer_list<std::pair<const char*, std::function<bool()>>>{
           {"chmod", [] { return chmod("none", 0) == 0; }},
           {"fchmod", [] { return fchmod(STDIN_FILENO, 0600) == 0; }},
           {"chown", [] { return chown("none", 1, 1) == 0; }},
           {"utimensat", [] { return utimensat(AT_FDCWD, "none", nullptr, 0) == 0; }},
           {"setxattr", [] { return setxattr("none", "user.x", "", 0, 0) == 0; }},
           {"rename", [] { return rename("none", "other") == 0; }},
           {"link", [] { return link("none", "other") == 0; }},
           {"symlink", [] { return symlink("none", "/none/other") == 0; }},
           {"unlink", [] { return unlink("none") == 0; }},
           {"truncate", [] { return truncate("none", 0) == 0; }},
           {"ftruncate", [] { return ftruncate(STDIN_FILENO, 0) == 0; }},
           {"fallocate", [] { return fallocate(STDIN_FILENO, 0, 0, 1) == 0; }},
           {"mkdir", [] { return mkdir("/none/other", 0700) == 0; }},
           {"rmdir", [] { return rmdir("/none/other") == 0; }},
           {"inotify", [] { return inotify_init1(0) >= 0; }},
       }) {
    CAPTURE(name);
    CHECK(tried(Filter::strict, attempt) == ENOSYS);
  }
  CHECK(tried(Filter::gpu, [] { return truncate("none", 0) == 0; }) == EPERM);
  CHECK(tried(Filter::strict, [] { return mknod("/none/other", S_IFIFO, 0) == 0; }) == EPERM);
}

TEST_CASE("a session without a GPU cannot change the socket that it shares with the server") {
  if (!has_filters()) return;
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  const int end = ends[0];
  CHECK(tried(Filter::strict, [=] {
          const linger forever{1, 3600};
          return setsockopt(end, SOL_SOCKET, SO_LINGER, &forever, sizeof forever) == 0;
        }) == EPERM);
  CHECK(tried(Filter::strict, [=] { return fcntl(end, F_SETFL, O_NONBLOCK) == 0; }) == EPERM);
  CHECK(tried(Filter::strict, [=] { return fcntl(end, F_GETFL) >= 0; }) == 0);
  CHECK(tried(Filter::strict, [=] {
          int waiting = 0;
          return ioctl(end, FIONREAD, &waiting) == 0;
        }) == EPERM);
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("nobody can let others inspect a session, and threads share their descriptors") {
  if (!has_filters()) return;
  for (const Filter filter : {Filter::strict, Filter::gpu}) {
    CHECK(tried(filter, [] { return prctl(PR_SET_DUMPABLE, 1) == 0; }) == EPERM);
    CHECK(tried(filter, [] { return prctl(PR_SET_PDEATHSIG, 0) == 0; }) == EPERM);
    CHECK(tried(filter, [] { return prctl(PR_SET_NAME, "thread") == 0; }) == 0);
  }
  // A runner lets its zygote look into it before it holds anything.
  CHECK(tried(Filter::runner, [] { return prctl(PR_SET_DUMPABLE, 1) == 0; }) == 0);
  CHECK(tried(Filter::runner, [] { return prctl(PR_SET_PDEATHSIG, 0) == 0; }) == EPERM);
  CHECK(tried(Filter::runner, [] { return prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY) == 0; }) == EPERM);
  // As glibc makes a thread, but with a table of descriptors of its own.
  CHECK(tried(Filter::strict, [] {
          constexpr unsigned long kFlags = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
          static char stack[4096];
          return syscall(SYS_clone, kFlags, stack + sizeof stack, nullptr, nullptr, 0) > 0;
        }) == EPERM);
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
  // A stack is not counted by the limit of memory, whatever its size.
  const auto grow = [] {
    void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mremap(page, 4096, 8192, MREMAP_MAYMOVE) != MAP_FAILED;
  };
  CHECK(tried(Filter::strict, grow) == ENOSYS);
  CHECK(tried(Filter::gpu, grow) == 0);
  CHECK(tried(Filter::strict, [=] { return move(0); }) == 0);
  CHECK(tried(Filter::gpu, [] { return memfd_create("memory", 0) >= 0; }) == 0);
  CHECK(tried(Filter::gpu, [] { return map_memory(MAP_SHARED); }) == 0);
  CHECK(tried(Filter::gpu, [=] { return move(getpid()); }) == 0);
}

}  // namespace
}  // namespace ferry::device
