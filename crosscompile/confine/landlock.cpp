#include "crosscompile/confine/landlock.h"

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "ferry/error.h"

namespace ferry::confine {
namespace {

constexpr std::uint64_t kRead = landlock::kReadFile | landlock::kReadFolder;
constexpr std::uint64_t kWrite =
    kRead | landlock::kWriteFile | landlock::kTruncate | landlock::kMakeFile | landlock::kRemoveFile;

}  // namespace

FileRules::FileRules(const AllowedFiles& files) {
  bool fine = rules_.is_valid();
  const auto add_all = [&](const std::vector<std::string>& paths, std::uint64_t rights) {
    for (const std::string& path : paths) fine = fine && rules_.allow(path.c_str(), rights);
  };
  add_all(files.readable, kRead);
  add_all(files.executable, kRead | landlock::kExecute);
  add_all(files.writable, kWrite);
  if (!fine) throw Error(ErrorCode::unavailable, std::string("Landlock: ") + std::strerror(errno));
}

bool FileRules::add_readable(const char* path) const { return rules_.allow(path, kRead); }

bool FileRules::apply() const { return rules_.restrict_self(); }

}  // namespace ferry::confine
