#include "device-runtime/sandbox/capabilities.h"

#include <dirent.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace ferry::device {
namespace {

constexpr unsigned kPerfmon = 38;  // since Linux 5.8; the system's headers may be older
constexpr std::uint64_t kKept =
    std::uint64_t{1} << CAP_DAC_OVERRIDE | std::uint64_t{1} << CAP_IPC_LOCK | std::uint64_t{1} << kPerfmon;

}  // namespace

bool drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct halves[2] = {};
  if (syscall(SYS_capget, &header, halves) != 0) return false;
  for (unsigned i = 0; i < 64; ++i) {
    // Also removed from the bounding set, which limits what executed programs could gain; older systems know fewer
    // capabilities.
    if ((kKept >> i & 1) == 0 && prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 1) prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
  }
  for (unsigned half = 0; half < 2; ++half) {
    const auto kept = static_cast<std::uint32_t>(kKept >> (32 * half));
    halves[half].permitted &= kept;
    halves[half].effective &= kept;
    halves[half].inheritable = 0;
  }
  return syscall(SYS_capset, &header, halves) == 0;
}

bool may_see_mapped_files() {
  DIR* maps = opendir("/proc/self/map_files");
  if (maps == nullptr) return false;
  bool may = false;
  while (const dirent* entry = may ? nullptr : readdir(maps)) {
    struct stat info{};
    may = entry->d_name[0] != '.' && fstatat(dirfd(maps), entry->d_name, &info, 0) == 0;
  }
  closedir(maps);
  return may;
}

bool may_look_into_others() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct halves[2] = {};
  return syscall(SYS_capget, &header, halves) == 0 && (halves[0].effective >> CAP_SYS_PTRACE & 1) != 0;
}

}  // namespace ferry::device
