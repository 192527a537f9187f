// A disk of a few megabytes, where the machine allows it.
#pragma once

#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/farm/temporary_folder.h"

namespace ferry::test {

// A small disk in the calling process's own mount namespace would not be the tracker's, so this is one for all.
struct SmallDisk {
  explicit SmallDisk(int megabytes) {
    const std::string size = "size=" + std::to_string(megabytes) + "m";
    is_mounted = mount("tmpfs", folder.path().c_str(), "tmpfs", 0, size.c_str()) == 0;
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (is_mounted) umount2(folder.path().c_str(), MNT_DETACH);
  }
  void fill() const {
    std::ofstream file(folder.file("filler"), std::ios::binary);
    const std::string block(1024, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  void make_room() const { std::filesystem::remove(folder.file("filler")); }

  TemporaryFolder folder;
  bool is_mounted = false;
};

}  // namespace ferry::test
