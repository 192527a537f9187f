// A fresh folder for lld's files, removed with all that is in it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ferry::link {

class TemporaryFolder {
 public:
  // In TMPDIR, or /tmp. Throws CompileError when that cannot be written.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

// Throw CompileError with the system's reason: a full disk is the user's to mend.
void write_file(const std::string& path, std::span<const std::uint8_t> bytes);
std::vector<std::uint8_t> read_file(const std::string& path);

}  // namespace ferry::link
