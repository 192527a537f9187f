#include "host/npy/whole_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

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

int write_and_close(int file, std::span<const std::uint8_t> bytes) {
  const int failed = write_all(file, bytes);
  const int close_failed = close(file) != 0 ? errno : 0;
  return failed != 0 ? failed : close_failed;
}

int write_in_place(const std::string& path, std::span<const std::uint8_t> bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return file < 0 ? errno : write_and_close(file, bytes);
}

// The mode that open() would give a new file.
mode_t new_file_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

}  // namespace

int write_whole_file(const std::string& path, std::span<const std::uint8_t> bytes) {
  if (path == "-") {
    if (fflush(stdout) != 0) return errno;
    return write_all(STDOUT_FILENO, bytes);
  }
  // A symbolic link is preserved; the file it points to is replaced.
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(path, error);
  const std::string target = error ? path : resolved.string();
  struct stat before{};
  const bool exists = stat(target.c_str(), &before) == 0;
  if (exists && !S_ISREG(before.st_mode)) return write_in_place(target, bytes);
  if (exists && access(target.c_str(), W_OK) != 0) return errno;
  std::string beside = target + ".XXXXXX";
  const int file = mkostemp(beside.data(), O_CLOEXEC);
  // A directory that permits no new file may still contain a writable one.
  if (file < 0) return exists && errno == EACCES ? write_in_place(target, bytes) : errno;
  int failed = fchmod(file, exists ? before.st_mode & 07777 : new_file_mode()) != 0 ? errno : 0;
  const int write_failed = write_and_close(file, bytes);
  if (failed == 0) failed = write_failed;
  if (failed == 0 && rename(beside.c_str(), target.c_str()) != 0) failed = errno;
  if (failed != 0) unlink(beside.c_str());
  return failed;
}

}  // namespace ferry::npy
