// A fresh folder for lld's files, removed with all its contents, also when std::quick_exit ends the process.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ferry::link {

class TemporaryFolder {
 public:
  // Creates the folder in TMPDIR, or in /tmp. Throws CompileError when that is not writable.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

// Both throw CompileError with the system's reason, since a full disk, for example, is for the user to fix.
void write_file(const std::string& path, std::span<const std::uint8_t> bytes);
void write_file(const std::string& path, std::string_view text);
std::vector<std::uint8_t> read_file(const std::string& path);

}  // namespace ferry::link
