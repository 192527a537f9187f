#include "host/client/npy/whole_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "base/descriptor.h"

namespace ferry::npy {

namespace {

// About the maximum that one call of write() transfers on Linux.
constexpr std::size_t kPiece = std::size_t{1} << 30;

int write_all(int file, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), std::min(bytes.size(), kPiece));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) return EIO;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return 0;
}

using WriteContents = std::function<int(const AppendBytes&)>;

int write_contents(int file, const WriteContents& write) {
  return write([file](std::span<const std::uint8_t> bytes) { return write_all(file, bytes); });
}

int write_and_close(Descriptor file, const WriteContents& write) {
  const int failed = write_contents(file.number(), write);
  const int close_failed = close(file.release()) != 0 ? errno : 0;
  return failed != 0 ? failed : close_failed;
}

int write_in_place(const std::string& path, const WriteContents& write) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  return file.number() < 0 ? errno : write_and_close(std::move(file), write);
}

// Removes the file at the end of its scope unless it has been renamed.
struct Unfinished {
  std::string path;
  ~Unfinished() {
    if (!path.empty()) unlink(path.c_str());
  }
};

// The mode that open() would give a new file.
mode_t new_file_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

}  // namespace

int write_whole_file(const std::string& path, std::span<const std::uint8_t> bytes) {
  return write_whole_file(path, [bytes](const AppendBytes& append) { return append(bytes); });
}

int write_whole_file(const std::string& path, const WriteContents& write) {
  if (path == "-") {
    if (fflush(stdout) != 0) return errno;
    return write_contents(STDOUT_FILENO, write);
  }
  // A symbolic link is preserved; the file it points to is replaced.
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(path, error);
  const std::string target = error ? path : resolved.string();
  struct stat before{};
  const bool exists = stat(target.c_str(), &before) == 0;
  if (exists && !S_ISREG(before.st_mode)) return write_in_place(target, write);
  if (exists && access(target.c_str(), W_OK) != 0) return errno;
  std::string beside = target + ".XXXXXX";
  Descriptor file(mkostemp(beside.data(), O_CLOEXEC));
  // A directory that permits no new file may still contain a writable one.
  if (file.number() < 0) return exists && errno == EACCES ? write_in_place(target, write) : errno;
  Unfinished unfinished{beside};
  const int mode_failed = fchmod(file.number(), exists ? before.st_mode & 07777 : new_file_mode()) != 0 ? errno : 0;
  if (const int failed = write_and_close(std::move(file), write); mode_failed != 0 || failed != 0)
    return mode_failed != 0 ? mode_failed : failed;
  if (rename(beside.c_str(), target.c_str()) != 0) return errno;
  unfinished.path.clear();
  return 0;
}

}  // namespace ferry::npy
