#include "device-runtime/facts/watched_files.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "base/format.h"
#include "device-runtime/facts/proc_files.h"

namespace ferry::device {
namespace {

constexpr const char* kCore = "{core}";

bool begins_with(const std::string& text, const char* with) { return text.compare(0, std::strlen(with), with) == 0; }

// Links in /proc lead to the root, working folder and open files of every process, and thus out of /proc, and in /sys
// other file systems are mounted.
bool is_on_same_system(const struct stat& file, const std::string& folder) {
  struct stat info{};
  return stat(folder.c_str(), &info) == 0 && info.st_dev == file.st_dev;
}

bool names_process(const std::string& path) {
  constexpr std::size_t kStart = 6;  // after "/proc/"
  return begins_with(path, "/proc/self") || begins_with(path, "/proc/thread-self") ||
         (path.size() > kStart && path[kStart] >= '0' && path[kStart] <= '9');
}

bool may_watch(const std::string& path, const struct stat& file, bool for_own_user, const std::string& root) {
  if (!S_ISREG(file.st_mode)) return false;
  const bool is_system = begins_with(path, "/proc/") ? is_on_same_system(file, root + "/proc")
                                                     : is_on_same_system(file, root + "/sys") ||
                                                           is_on_same_system(file, root + "/sys/fs/cgroup");
  const bool is_meter = begins_with(path, "/sys/class/powercap/");
  return is_system && ((file.st_mode & S_IROTH) != 0 || (is_meter && for_own_user));
}

}  // namespace

Descriptor open_watched(const std::string& path, bool for_own_user, const std::string& root) {
  const bool has_place = begins_with(path, "/proc/") || begins_with(path, "/sys/");
  // Paths are compared as texts, so each file has one.
  const bool is_plain = path.find("/.") == std::string::npos && path.find("//") == std::string::npos;
  if (!has_place || !is_plain || names_process(path)) return Descriptor();
  // Merely opening a file may have side effects, so it is examined with O_PATH first.
  const Descriptor place(open((root + path).c_str(), O_PATH | O_CLOEXEC));
  struct stat info{};
  if (place.number() < 0 || fstat(place.number(), &info) != 0 || !may_watch(path, info, for_own_user, root)) {
    return Descriptor();
  }
  // Reading some of the kernel's files would otherwise block until there is news.
  return Descriptor(open((root + path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

// Sends the request of `vcgencmd get_throttled`: property 0x30046 of the firmware's mailbox (Raspberry Pi firmware
// wiki, "Mailbox property interface").
std::optional<std::uint32_t> pi_throttled() {
  const Descriptor mailbox(open(kFirmwareMailbox, O_RDONLY | O_CLOEXEC));
  if (mailbox.number() < 0) return std::nullopt;
  alignas(16) std::uint32_t message[7] = {sizeof message, 0, 0x30046, 4, 0, 0, 0};
  const bool answered = ioctl(mailbox.number(), _IOWR(100, 0, char*), message) >= 0 && message[1] == 0x80000000U;
  return answered ? std::optional(message[5]) : std::nullopt;
}

void put_core(std::string& path) {
  if (const std::size_t core = path.find(kCore); core != std::string::npos) {
    path.replace(core, std::strlen(kCore), format("%d", sched_getcpu()));
  }
}

std::vector<WatchedText> watch_before(const std::vector<std::string>& paths, const TextsOfPaths& texts) {
  std::vector<std::string> found = texts(paths);
  std::vector<WatchedText> files;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (found[i].empty()) continue;
    files.emplace_back();
    files.back().path = paths[i];
    files.back().before = std::move(found[i]);
  }
  return files;
}

void watch_after(std::vector<WatchedText>& files, const TextsOfPaths& texts) {
  std::vector<std::string> paths;
  for (const WatchedText& file : files) paths.push_back(file.path);
  std::vector<std::string> found = texts(paths);
  for (std::size_t i = 0; i < files.size(); ++i) files[i].after = std::move(found[i]);
}

}  // namespace ferry::device
