#include "device-runtime/facts/watched_files.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>

#include "base/format.h"
#include "device-runtime/facts/proc_files.h"

namespace ferry::device {
namespace {

constexpr const char* kMailbox = "/dev/vcio";
constexpr const char* kCore = "{core}";

// Sends the request of `vcgencmd get_throttled`: property 0x30046 of the firmware's mailbox (Raspberry Pi firmware
// wiki, "Mailbox property interface").
std::string pi_throttled() {
  const int mailbox = open(kMailbox, O_RDONLY | O_CLOEXEC);
  if (mailbox < 0) return {};
  alignas(16) std::uint32_t message[7] = {sizeof message, 0, 0x30046, 4, 0, 0, 0};
  const bool answered = ioctl(mailbox, _IOWR(100, 0, char*), message) >= 0 && message[1] == 0x80000000U;
  close(mailbox);
  return answered ? format("%x", message[5]) : std::string();
}

// Reads a file of /proc itself. Links in /proc lead to the root, working folder and open files of every process, and
// thus out of /proc. Merely opening their targets may have side effects, so the file is examined with O_PATH first.
std::string proc_text(const std::string& path, const std::string& proc) {
  const int place = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (place < 0) return {};
  struct stat file{}, folder{};
  const bool inside = fstat(place, &file) == 0 && stat(proc.c_str(), &folder) == 0 && file.st_dev == folder.st_dev &&
                      S_ISREG(file.st_mode);
  std::string text = inside ? read_small_file(format("/proc/self/fd/%d", place).c_str()) : std::string();
  close(place);
  return text;
}

}  // namespace

std::string watched_text(const std::string& path, const std::string& root) {
  if (path == kMailbox) return pi_throttled();
  const bool is_proc = path.compare(0, 6, "/proc/") == 0;
  if ((!is_proc && path.compare(0, 5, "/sys/") != 0) || path.find("..") != std::string::npos) return {};
  std::string place = root + path;
  if (const std::size_t core = place.find(kCore); core != std::string::npos) {
    place.replace(core, std::char_traits<char>::length(kCore), format("%d", sched_getcpu()));
  }
  return is_proc ? proc_text(place, root + "/proc") : read_small_file(place.c_str());
}

std::vector<WatchedText> watch_before(const std::vector<std::string>& paths, const TextOfPath& text_of) {
  std::vector<WatchedText> files;
  for (const std::string& path : paths) {
    std::string text = text_of(path);
    if (text.empty()) continue;
    files.emplace_back();
    files.back().path = path;
    files.back().before = std::move(text);
  }
  return files;
}

void watch_after(std::vector<WatchedText>& files, const TextOfPath& text_of) {
  for (WatchedText& file : files) file.after = text_of(file.path);
}

}  // namespace ferry::device
