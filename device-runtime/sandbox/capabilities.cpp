#include "device-runtime/sandbox/capabilities.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace ferry::device {
namespace {

constexpr unsigned kPerfmon = 38;  // since Linux 5.8; the system's headers may be older
constexpr std::uint64_t kKept = std::uint64_t{1} << CAP_DAC_OVERRIDE;

// Whether the kernel refuses counters of one's own threads to processes without the capability, as Debian's kernels do
// from the level 3 on. With the capability one could also count and delay what others do.
bool counters_need_capability() {
  const int file = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
  char level = 0;
  const bool is_high = file >= 0 && read(file, &level, 1) == 1 && level >= '3';
  close(file);
  return is_high;
}

bool get_capabilities(__user_cap_data_struct* halves) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  return syscall(SYS_capget, &header, halves) == 0;
}

bool set_capabilities(const __user_cap_data_struct* halves) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  return syscall(SYS_capset, &header, halves) == 0;
}

}  // namespace

WithoutCapabilities::WithoutCapabilities() {
  if (!get_capabilities(before_)) return;
  __user_cap_data_struct none[2] = {before_[0], before_[1]};
  for (auto& half : none) half.effective = 0;
  set_capabilities(none);
}

WithoutCapabilities::~WithoutCapabilities() { set_capabilities(before_); }

bool drop_capabilities() {
  __user_cap_data_struct halves[2] = {};
  if (!get_capabilities(halves)) return false;
  const std::uint64_t all_kept = kKept | std::uint64_t{counters_need_capability()} << kPerfmon;
  // Also removed from the bounding set, which limits what executed programs could gain. Reading fails for the first
  // capability that the kernel does not know.
  for (unsigned i = 0; i < 64; ++i) {
    const int held = prctl(PR_CAPBSET_READ, i, 0, 0, 0);
    if (held < 0) break;
    if (held == 1 && (all_kept >> i & 1) == 0) prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
  }
  for (unsigned half = 0; half < 2; ++half) {
    const auto kept = static_cast<std::uint32_t>(all_kept >> (32 * half));
    halves[half].permitted &= kept;
    halves[half].effective &= kept;
    halves[half].inheritable = 0;
  }
  return set_capabilities(halves);
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
  __user_cap_data_struct halves[2] = {};
  return get_capabilities(halves) && (halves[0].effective >> CAP_SYS_PTRACE & 1) != 0;
}

}  // namespace ferry::device
