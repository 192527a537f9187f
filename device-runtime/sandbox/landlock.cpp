#include "device-runtime/sandbox/landlock.h"

#include <dirent.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/landlock.h"

namespace ferry::device {
namespace {

constexpr std::uint64_t kReading = landlock::kExecute | landlock::kReadFile | landlock::kReadFolder;

// Folders that the person who started the server has named, separated by colons.
void allow_named(const LandlockRules& rules, const char* variable, std::uint64_t rights) {
  const char* const value = std::getenv(variable);
  std::string_view rest = value != nullptr ? value : "";
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(folder.size() + (folder.size() < rest.size() ? 1 : 0));
    if (!folder.empty()) rules.allow(std::string(folder).c_str(), rights);
  }
}

}  // namespace

bool forbid_files() { return LandlockRules().restrict_self(); }

bool restrict_to_drivers_files(const std::string& folder) {
  const LandlockRules rules;
  for (const char* path :
       {"/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/etc", "/proc", "/sys", "/dev"}) {
    rules.allow(path, kReading);
  }
  for (const char* variable : {"LD_LIBRARY_PATH", "OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"})
    allow_named(rules, variable, kReading);
  allow_named(rules, "FERRY_GPU_FOLDERS", landlock::kAll);
  DIR* const devices = opendir("/dev");
  while (const dirent* entry = devices != nullptr ? readdir(devices) : nullptr) {
    for (const char* prefix : {"nvidia", "dri", "kfd", "mali", "pvr", "galcore", "null", "zero"}) {
      if (std::strncmp(entry->d_name, prefix, std::strlen(prefix)) == 0) {
        rules.allow((std::string("/dev/") + entry->d_name).c_str(),
                    landlock::kWriteFile | landlock::kReadFile | landlock::kReadFolder | landlock::kControlDevice);
      }
    }
  }
  if (devices != nullptr) closedir(devices);
  if (!folder.empty()) rules.allow(folder.c_str(), landlock::kAll);
  return rules.restrict_self();
}

}  // namespace ferry::device
