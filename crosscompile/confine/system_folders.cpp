#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "crosscompile/confine/run_confined.h"

namespace ferry::confine {

std::vector<std::string> system_folders() {
  std::vector<std::string> folders;
  for (const char* root : {"", "/usr", "/usr/local"})
    for (const char* name : {"bin", "lib", "lib32", "lib64", "libexec", "include"})
      folders.push_back(std::string(root) + "/" + name);
  // Distributions that keep each package in a folder of its own, and what the dynamic linker and clang's driver look
  // at.
  for (const char* path : {"/nix/store", "/gnu/store", "/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/os-release",
                           "/etc/lsb-release", "/etc/debian_version"})
    folders.emplace_back(path);
  for (const char* device : {"/dev/zero", "/dev/random", "/dev/urandom"}) folders.emplace_back(device);
  return folders;
}

std::string find_program(const std::string& name) {
  const auto resolved = [](const std::string& path) {
    std::error_code error;
    const std::filesystem::path found = std::filesystem::canonical(path, error);
    return error || access(path.c_str(), X_OK) != 0 ? std::string() : found.string();
  };
  if (name.find('/') != std::string::npos) return resolved(name);
  const char* given = std::getenv("PATH");
  std::string rest = given != nullptr ? given : "/bin:/usr/bin";
  while (true) {
    const std::size_t end = rest.find(':');
    const std::string folder = rest.substr(0, end);
    std::error_code ignored;
    const std::string path = (folder.empty() ? "." : folder) + "/" + name;
    if (std::filesystem::is_regular_file(path, ignored))
      if (std::string found = resolved(path); !found.empty()) return found;
    if (end == std::string::npos) return {};
    rest.erase(0, end + 1);
  }
}

}  // namespace ferry::confine
