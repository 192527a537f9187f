#include "device-runtime/sandbox/sandbox.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "device-runtime/sandbox/capabilities.h"
#include "device-runtime/sandbox/landlock.h"

namespace ferry::device {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
// Memory besides tensors and modules: the server's own, and that of each thread.
constexpr std::uint64_t kOwnMemory = 128 * kMiB;
constexpr std::uint64_t kThreadMemory = 10 * kMiB;
constexpr rlim_t kMaxThreads = 4096;
constexpr rlim_t kMaxFiles = 256;
constexpr rlim_t kMaxFilesGpu = 4096;

Status change_user(const SandboxOptions& options) {
  if (!options.change_user) return {};
  if (setgroups(0, nullptr) == 0 && setresgid(options.group, options.group, options.group) == 0 &&
      setresuid(options.user, options.user, options.user) == 0) {
    return {};
  }
  return {ErrorCode::internal, format("cannot become user %u: %s", options.user, std::strerror(errno))};
}

}  // namespace

bool limit_resource(int resource, std::uint64_t most, pid_t process) {
  rlimit now{};
  const auto which = static_cast<__rlimit_resource>(resource);
  if (prlimit(process, which, nullptr, &now) != 0) return false;
  const rlim_t value = std::min(static_cast<rlim_t>(std::min<std::uint64_t>(most, RLIM_INFINITY)), now.rlim_max);
  const rlimit wanted{value, value};
  return prlimit(process, which, &wanted, nullptr) == 0 && prlimit(process, which, nullptr, &now) == 0 &&
         now.rlim_cur == value;
}

std::uint64_t all_memory(const SandboxOptions& options) {
  const std::uint64_t beside = kOwnMemory + options.threads * kThreadMemory;
  return options.memory_bytes > UINT64_MAX - beside ? UINT64_MAX : options.memory_bytes + beside;
}

Result<std::vector<std::string>> enter_sandbox(const SandboxOptions& options) {
  std::vector<std::string> missing;
  const auto expect = [&](bool holds, const char* what) {
    if (!holds) missing.emplace_back(what);
  };
  const bool is_gpu = options.filter == Filter::gpu;
  if (options.folder.empty() || chdir(options.folder.c_str()) != 0) {
    missing.emplace_back("a work folder of its own (no folder can be written)");
    missing.emplace_back("keeping modules for later sessions (no folder can be written)");
    if (chdir("/") != 0) return Status(ErrorCode::internal, "cannot enter /");
  }
  expect(limit_resource(RLIMIT_CORE, 0), "no core dumps");
  expect(limit_resource(RLIMIT_NOFILE, is_gpu ? kMaxFilesGpu : kMaxFiles), "the number of open files");
  expect(limit_resource(RLIMIT_FSIZE, options.file_bytes), "the size of files");
  expect(!options.folder.empty(), "the size of all files together (there is no folder to count them in)");
  // The server, which counts them, may do what this process may before it becomes somebody else.
  expect(may_look_into_others(), "the size of files without a name (the server may not see what sessions have open)");
  if (is_gpu && options.sees_mapped_files != nullptr)
    expect(options.sees_mapped_files(), "the size of mapped files without a name (the server may not see them)");
  if (options.cpu_seconds != 0) expect(limit_resource(RLIMIT_CPU, options.cpu_seconds), "processor time");
#if defined(__SANITIZE_ADDRESS__)
  expect(false, "memory (the sanitizer's own is without end)");
#else
  if (is_gpu) {
    expect(false, "memory (drivers of GPUs map more than there is)");
  } else {
    // The second limit counts the buffers of counters.
    expect(limit_resource(RLIMIT_DATA, all_memory(options)) && limit_resource(RLIMIT_MEMLOCK, 0), "memory");
    expect(access("/proc/self/status", R_OK) == 0, "memory that belongs to files (there is no /proc)");
  }
#endif
  FERRY_TRY(change_user(options));
  // A GPU's driver may have to load its kernel module.
  if (geteuid() == 0 && !is_gpu) expect(drop_capabilities(), "leaving root's capabilities");
  // Changing the user has reset this.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  expect(limit_resource(RLIMIT_NPROC, kMaxThreads) && getuid() != 0,
         "the number of threads (root has no limit: see --user)");
  expect(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
  // Without a GPU the filter allows no system call that takes a path.
  const bool is_restricted = is_gpu ? options.restrict_gpu_files(options.folder) : forbid_files();
  if (is_gpu) expect(is_restricted, "which files it may open (this kernel has no Landlock)");
  if (options.inspectable) prctl(PR_SET_DUMPABLE, 1);
  if (options.filter == Filter::none) return missing;
  if (const std::string why = install_filter(options.filter); !why.empty()) {
    missing.push_back("forbidden system calls (seccomp: " + why + ")");
  }
  return missing;
}

}  // namespace ferry::device
