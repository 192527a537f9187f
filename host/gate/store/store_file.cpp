#include "host/gate/store/store_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "base/replace_file.h"
#include "host/gate/store/store.h"

namespace ferry::gate {

namespace {

// The errors of open() for what is no regular file: a link, a socket, a folder.
bool is_no_regular_file(int error) { return error == ELOOP || error == ENXIO || error == EISDIR; }

std::optional<StoreFile> open_regular(const std::string& path, int flags, bool& is_other) {
  StoreFile opened;
  opened.file = Descriptor(open(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (opened.file.number() < 0) {
    is_other = is_no_regular_file(errno);
    if (errno != ENOENT && !is_other) fail_to("open", path);
    return std::nullopt;
  }
  struct stat info{};
  if (fstat(opened.file.number(), &info) != 0) fail_to("open", path);
  is_other = !S_ISREG(info.st_mode);
  if (is_other) return std::nullopt;
  opened.bytes = static_cast<std::uint64_t>(info.st_size);
  return opened;
}

}  // namespace

void fail_to(const char* what, const std::string& path) {
  const int error = errno;
  throw StoreFailed("cannot " + std::string(what) + " " + printable(path) + ": " + std::strerror(error));
}

std::optional<StoreFile> open_store_file(const std::string& path, int flags) {
  bool is_other = false;
  std::optional<StoreFile> file = open_regular(path, flags, is_other);
  if (is_other) throw StoreFailed("expected a regular file, got something else: " + printable(path));
  return file;
}

std::optional<StoreFile> open_if_regular(const std::string& path, int flags) {
  bool is_other = false;
  return open_regular(path, flags, is_other);
}

std::size_t read_from(const StoreFile& file, const std::string& path, std::uint64_t offset,
                      std::span<std::uint8_t> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t count =
        pread(file.file.number(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_to("read", path);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

std::optional<std::string> read_store_file(const std::string& path, std::uint64_t most) {
  const std::optional<StoreFile> file = open_store_file(path, O_RDONLY);
  if (!file) return std::nullopt;
  if (file->bytes > most) {
    throw StoreFailed("expected at most " + bytes_text(most) + ", got " + bytes_text(file->bytes) + ": " +
                      printable(path));
  }
  std::string text(static_cast<std::size_t>(file->bytes), '\0');
  text.resize(read_from(*file, path, 0, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
  return text;
}

void replace_store_file(const std::string& path, std::string_view text) {
  if (const Status written = replace_file(path, text); !written.is_ok()) {
    throw StoreFailed(printable(written.message()));
  }
}

bool delete_store_file(const std::string& path) {
  if (unlink(path.c_str()) == 0) return true;
  if (errno != ENOENT && errno != ENOTDIR) fail_to("delete", path);
  return false;
}

std::vector<std::string> names_in(const std::string& folder) {
  Descriptor file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (file.number() < 0) {
    if (errno == ENOENT) return {};
    fail_to("open the folder", folder);
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(fdopendir(file.number()), closedir);
  if (entries == nullptr) fail_to("read the folder", folder);
  file.release();
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(entries.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (errno != 0) fail_to("read the folder", folder);
  return names;
}

void create_store_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw StoreFailed("cannot create " + printable(folder) + ": " + error.message());
  expect_folder_if_any(folder);
}

void expect_folder_if_any(const std::string& folder) {
  struct stat info{};
  if (lstat(folder.c_str(), &info) != 0) {
    if (errno != ENOENT) fail_to("open the folder", folder);
  } else if (!S_ISDIR(info.st_mode)) {
    throw StoreFailed("expected a folder, got something else: " + printable(folder));
  }
}

}  // namespace ferry::gate
