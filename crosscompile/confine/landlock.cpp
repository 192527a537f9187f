#include "crosscompile/confine/landlock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ferry/error.h"

namespace ferry::confine {
namespace {

// The interface as of <linux/landlock.h>, of which older systems have only the beginning. The numbers are those of all
// architectures.
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr unsigned kAskVersion = 1;
constexpr int kPathBeneath = 1;

struct RulesetAttributes {
  std::uint64_t files = 0;
  std::uint64_t network = 0;  // since version 4
  std::uint64_t scopes = 0;   // since version 6
};
struct [[gnu::packed]] PathRule {
  std::uint64_t allowed = 0;
  std::int32_t parent = -1;
};

constexpr std::uint64_t bit(unsigned index) { return std::uint64_t{1} << index; }
constexpr std::uint64_t kExecute = bit(0), kWriteFile = bit(1), kReadFile = bit(2), kReadFolder = bit(3);
constexpr std::uint64_t kRemoveFile = bit(5), kMakeFile = bit(8);
constexpr std::uint64_t kTruncate = bit(14), kDeviceCommand = bit(15);
// Rights to a file that is no folder.
constexpr std::uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kDeviceCommand;
constexpr std::uint64_t kRead = kReadFile | kReadFolder;
constexpr std::uint64_t kWrite = kRead | kWriteFile | kTruncate | kMakeFile | kRemoveFile;
constexpr std::uint64_t kNetworkOfVersion4 = 3;  // bind and connect
constexpr std::uint64_t kScopesOfVersion6 = 3;   // abstract sockets and signals

// Returns the rights that a version knows.
std::uint64_t files_of(int version) {
  if (version >= 5) return bit(16) - 1;
  if (version >= 3) return bit(15) - 1;
  return version == 2 ? bit(14) - 1 : bit(13) - 1;
}

bool add(int rules, const char* path, std::uint64_t rights, std::uint64_t known) {
  const Descriptor file(open(path, O_PATH | O_CLOEXEC));
  struct stat info{};
  if (file.number() < 0 || fstat(file.number(), &info) != 0) return true;
  const PathRule rule{rights & known & (S_ISDIR(info.st_mode) ? known : kOfFiles), file.number()};
  return syscall(kAddRule, rules, kPathBeneath, &rule, 0) == 0;
}

}  // namespace

int landlock_version() {
  const long version = syscall(kCreateRuleset, nullptr, 0, kAskVersion);
  return version > 0 ? static_cast<int>(version) : 0;
}

FileRules::FileRules(const AllowedFiles& files) {
  const int version = landlock_version();
  const std::uint64_t known = files_of(version);
  RulesetAttributes attributes{known, version >= 4 ? kNetworkOfVersion4 : 0, version >= 6 ? kScopesOfVersion6 : 0};
  const std::size_t size = version >= 6   ? sizeof attributes
                           : version >= 4 ? offsetof(RulesetAttributes, scopes)
                                          : offsetof(RulesetAttributes, network);
  rules_ = Descriptor(static_cast<int>(syscall(kCreateRuleset, &attributes, size, 0)));
  bool fine = rules_.number() >= 0;
  const auto add_all = [&](const std::vector<std::string>& paths, std::uint64_t rights) {
    for (const std::string& path : paths) fine = fine && add(rules_.number(), path.c_str(), rights, known);
  };
  add_all(files.readable, kRead);
  add_all(files.executable, kRead | kExecute);
  add_all(files.writable, kWrite);
  if (!fine) throw Error(ErrorCode::unavailable, std::string("Landlock: ") + std::strerror(errno));
}

bool FileRules::add_readable(const char* path) const { return add(rules_.number(), path, kRead, files_of(1)); }

bool FileRules::apply() const { return syscall(kRestrictSelf, rules_.number(), 0) == 0; }

}  // namespace ferry::confine
