#include "tests/boards/initramfs.h"

#include <sys/stat.h>

#include "base/format.h"

namespace ferry::test {
namespace {

void pad(std::string& bytes) { bytes.resize((bytes.size() + 3) / 4 * 4); }

}  // namespace

void Initramfs::add(const std::string& path, unsigned mode, unsigned owner, const std::string& content, unsigned major,
                    unsigned minor) {
  const unsigned links = S_ISDIR(mode) ? 2 : 1;
  bytes_ += "070701";
  for (const unsigned field : {next_inode_++, mode, owner, owner, links, 0U, static_cast<unsigned>(content.size()), 0U,
                               0U, major, minor, static_cast<unsigned>(path.size() + 1), 0U}) {
    bytes_ += format("%08x", field);
  }
  bytes_ += path;
  bytes_ += '\0';
  pad(bytes_);
  bytes_ += content;
  pad(bytes_);
}

void Initramfs::add_folder(const std::string& path) { add(path, S_IFDIR | 0755, 0, ""); }

void Initramfs::add_file(const std::string& path, const std::string& content, unsigned mode, unsigned owner) {
  add(path, S_IFREG | mode, owner, content);
}

void Initramfs::add_character_device(const std::string& path, unsigned major, unsigned minor) {
  add(path, S_IFCHR | 0600, 0, "", major, minor);
}

std::string Initramfs::archive() const {
  Initramfs whole = *this;
  whole.add("TRAILER!!!", 0, 0, "");
  return whole.bytes_;
}

}  // namespace ferry::test
