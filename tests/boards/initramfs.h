// The root file system that a kernel unpacks before it starts /init: an uncompressed cpio archive in the format "newc"
// (Documentation/driver-api/early-userspace/buffer-format.rst of Linux).
#pragma once

#include <cstdint>
#include <string>

namespace ferry::test {

class Initramfs {
 public:
  void add_folder(const std::string& path);
  void add_file(const std::string& path, const std::string& content, unsigned mode, unsigned owner = 0);
  void add_character_device(const std::string& path, unsigned major, unsigned minor);
  // Returns the complete archive.
  std::string archive() const;

 private:
  void add(const std::string& path, unsigned mode, unsigned owner, const std::string& content, unsigned major = 0,
           unsigned minor = 0);

  std::string bytes_;
  unsigned next_inode_ = 1;
};

}  // namespace ferry::test
