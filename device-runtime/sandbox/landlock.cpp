#include "device-runtime/sandbox/landlock.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/descriptor.h"

namespace ferry::device {
namespace {

// The interface of linux/landlock.h, which the headers of older systems lack; the numbers are those of every
// architecture.
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr unsigned kAskVersion = 1;
constexpr int kPathBeneath = 1;

constexpr std::uint64_t kExecute = 1 << 0, kWriteFile = 1 << 1, kReadFile = 1 << 2, kReadFolder = 1 << 3;
constexpr std::uint64_t kReading = kExecute | kReadFile | kReadFolder;
constexpr std::uint64_t kTruncate = 1 << 14, kControlDevice = 1 << 15;
constexpr std::uint64_t kRights[] = {(1 << 13) - 1, (1 << 14) - 1, (1 << 15) - 1, (1 << 15) - 1, (1 << 16) - 1};
constexpr std::uint64_t kBindAndConnect = 3;     // TCP, since version 4
constexpr std::uint64_t kSocketsAndSignals = 3;  // abstract sockets and signals to others, since version 6

long landlock_version() { return syscall(kCreateRuleset, nullptr, 0, kAskVersion); }

std::uint64_t rights_of(long version) { return kRights[(version < 5 ? version : 5) - 1]; }

struct Ruleset {
  std::uint64_t files, network, scoped;
};
struct [[gnu::packed]] PathRule {
  std::uint64_t allowed;
  std::int32_t file;
};

int create_ruleset(long version) {
  if (version < 1) return -1;
  const Ruleset wanted{rights_of(version), version >= 4 ? kBindAndConnect : 0, version >= 6 ? kSocketsAndSignals : 0};
  const std::size_t size = version >= 6 ? sizeof wanted : version >= 4 ? 16 : 8;
  return static_cast<int>(syscall(kCreateRuleset, &wanted, size, 0));
}

bool restrict_to(const Descriptor& ruleset) {
  return ruleset.number() >= 0 && syscall(kRestrictSelf, ruleset.number(), 0) == 0;
}

class Rules {
 public:
  Rules() : version_(landlock_version()), ruleset_(create_ruleset(version_)) {}

  // Allows these rights for a folder and all that is in it, or for a file. One that does not exist needs none.
  void allow(const std::string& path, std::uint64_t rights) const {
    const Descriptor place(open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat info{};
    if (place.number() < 0 || fstat(place.number(), &info) != 0) return;
    if (!S_ISDIR(info.st_mode)) rights &= kExecute | kWriteFile | kReadFile | kTruncate | kControlDevice;
    const PathRule rule{rights & rights_of(version_), place.number()};
    syscall(kAddRule, ruleset_.number(), kPathBeneath, &rule, 0);
  }
  void allow_reading(const std::string& path) const { allow(path, kReading); }
  void allow_all(const std::string& path) const { allow(path, ~std::uint64_t{0}); }

  bool restrict_self() const { return restrict_to(ruleset_); }

 private:
  long version_;
  Descriptor ruleset_;
};

// Folders that the person who started the server has named, separated by colons.
void allow_named(const Rules& rules, const char* variable, std::uint64_t rights) {
  const char* const value = std::getenv(variable);
  std::string_view rest = value != nullptr ? value : "";
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(folder.size() + (folder.size() < rest.size() ? 1 : 0));
    if (!folder.empty()) rules.allow(std::string(folder), rights);
  }
}

}  // namespace

bool forbid_files() { return restrict_to(Descriptor(create_ruleset(landlock_version()))); }

bool restrict_to_drivers_files(const std::string& folder) {
  const Rules rules;
  for (const char* path :
       {"/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/etc", "/proc", "/sys", "/dev"}) {
    rules.allow_reading(path);
  }
  for (const char* variable : {"LD_LIBRARY_PATH", "OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"})
    allow_named(rules, variable, kReading);
  allow_named(rules, "FERRY_GPU_FOLDERS", ~std::uint64_t{0});
  DIR* const devices = opendir("/dev");
  while (const dirent* entry = devices != nullptr ? readdir(devices) : nullptr) {
    for (const char* prefix : {"nvidia", "dri", "kfd", "mali", "pvr", "galcore", "null", "zero"}) {
      if (std::strncmp(entry->d_name, prefix, std::strlen(prefix)) == 0) {
        rules.allow(std::string("/dev/") + entry->d_name, kWriteFile | kReadFile | kReadFolder | kControlDevice);
      }
    }
  }
  if (devices != nullptr) closedir(devices);
  if (!folder.empty()) rules.allow_all(folder);
  return rules.restrict_self();
}

}  // namespace ferry::device
