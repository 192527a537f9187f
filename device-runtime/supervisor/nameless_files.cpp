#include "device-runtime/supervisor/nameless_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include "base/format.h"
#include "device-runtime/facts/proc_files.h"

namespace ferry::device {
namespace {

constexpr std::uint64_t kStatxBlockBytes = 512;  // unit of stx_blocks
// More links than a session with files of an honest number has.
constexpr std::size_t kMaxLinks = 1 << 20;

struct Tally {
  std::uint64_t bytes = 0;
  std::size_t links = 0;
  std::set<std::pair<std::uint64_t, std::uint64_t>> files;
};

template <class Visit>
void for_each_entry(const std::string& path, Visit visit) {
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) visit(dirfd(folder), entry->d_name);
  closedir(folder);
}

// Counts the files that a folder of /proc links to, each once.
void count_links(const std::string& path, Tally& tally) {
  for_each_entry(path, [&](int folder, const char* name) {
    // Uses what the system has cached: a file server may not answer.
    struct statx info{};
    constexpr unsigned kAsked = STATX_TYPE | STATX_NLINK | STATX_BLOCKS | STATX_INO;
    if (++tally.links > kMaxLinks || statx(folder, name, AT_STATX_DONT_SYNC, kAsked, &info) != 0) return;
    if (!S_ISREG(info.stx_mode) || info.stx_nlink != 0) return;
    const std::uint64_t device = std::uint64_t{info.stx_dev_major} << 32 | info.stx_dev_minor;
    if (tally.files.insert({device, info.stx_ino}).second) tally.bytes += info.stx_blocks * kStatxBlockBytes;
  });
}

// Returns the session that the process belongs to; 0 if it has ended.
pid_t session_of(pid_t process) {
  const std::string text = read_small_file(format("/proc/%d/stat", process).c_str());
  // The name, in parentheses, may contain anything. State, parent and process group precede the session.
  std::size_t at = text.rfind(')');
  for (int field = 0; field < 4 && at != std::string::npos; ++field) at = text.find(' ', at + 1);
  return at == std::string::npos ? 0 : static_cast<pid_t>(std::strtol(text.c_str() + at, nullptr, 10));
}

void count_process(pid_t process, Tally& tally) {
  const std::string path = format("/proc/%d", process);
  for_each_entry(path + "/task", [&](int, const char* name) {
    const auto thread = static_cast<pid_t>(std::strtol(name, nullptr, 10));
    if (thread == 0) return;
    // Almost all threads share the descriptors of the first one.
    if (thread != process && syscall(SYS_kcmp, process, thread, KCMP_FILES, 0, 0) == 0) return;
    count_links(path + "/task/" + name + "/fd", tally);
  });
  count_links(path + "/map_files", tally);
}

}  // namespace

std::uint64_t all_nameless_bytes(pid_t session, std::uint64_t most) {
  Tally tally;
  for_each_entry("/proc", [&](int, const char* name) {
    const auto process = static_cast<pid_t>(std::strtol(name, nullptr, 10));
    if (process <= 0 || tally.bytes > most || tally.links > kMaxLinks) return;
    if (process == session || session_of(process) == session) count_process(process, tally);
  });
  return tally.links > kMaxLinks ? UINT64_MAX : tally.bytes;
}

}  // namespace ferry::device
