#include "base/landlock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

namespace ferry {
namespace {

// The numbers are those of all architectures.
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

constexpr std::uint64_t kRightsToFiles =
    landlock::kExecute | landlock::kWriteFile | landlock::kReadFile | landlock::kTruncate | landlock::kControlDevice;
constexpr std::uint64_t kBindAndConnect = 3;
constexpr std::uint64_t kSocketsAndSignals = 3;

std::uint64_t rights_of(int version) {
  constexpr std::uint64_t kOne = 1;
  if (version >= 5) return (kOne << 16) - 1;
  if (version >= 3) return (kOne << 15) - 1;
  return version == 2 ? (kOne << 14) - 1 : (kOne << 13) - 1;
}

}  // namespace

int landlock::version() {
  const long version = syscall(kCreateRuleset, nullptr, 0, kAskVersion);
  return version > 0 ? static_cast<int>(version) : 0;
}

LandlockRules::LandlockRules() {
  const int version = landlock::version();
  if (version == 0) return;
  known_ = rights_of(version);
  const RulesetAttributes attributes{known_, version >= 4 ? kBindAndConnect : 0, version >= 6 ? kSocketsAndSignals : 0};
  const std::size_t size = version >= 6   ? sizeof attributes
                           : version >= 4 ? offsetof(RulesetAttributes, scopes)
                                          : offsetof(RulesetAttributes, network);
  ruleset_ = Descriptor(static_cast<int>(syscall(kCreateRuleset, &attributes, size, 0)));
}

bool LandlockRules::allow(const char* path, std::uint64_t rights) const {
  const Descriptor file(open(path, O_PATH | O_CLOEXEC));
  struct stat info{};
  if (file.number() < 0 || fstat(file.number(), &info) != 0) return true;
  const PathRule rule{rights & known_ & (S_ISDIR(info.st_mode) ? known_ : kRightsToFiles), file.number()};
  return syscall(kAddRule, ruleset_.number(), kPathBeneath, &rule, 0) == 0;
}

bool LandlockRules::restrict_self() const { return is_valid() && syscall(kRestrictSelf, ruleset_.number(), 0) == 0; }

}  // namespace ferry
