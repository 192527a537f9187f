// Files for tests of what a user named.
#pragma once

#include <stdlib.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

namespace ferry::test {

// A folder that is removed with all its files.
class Folder {
 public:
  Folder() {
    std::string path = (std::filesystem::temp_directory_path() / "ferry-kernel-XXXXXX").string();
    path_ = mkdtemp(path.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& name) const { return (path_ / name).string(); }
  // Writes a file and returns its path.
  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace ferry::test
