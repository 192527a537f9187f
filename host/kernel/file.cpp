#include "host/kernel/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "ferry/error.h"
#include "host/npy/whole_file.h"

namespace ferry {

namespace {

struct CloseFile {
  void operator()(FILE* file) const { fclose(file); }
};

[[noreturn]] void refuse_to_write(const std::string& name, int failed) {
  throw UsageError("cannot write " + (name == "-" ? "the output" : "'" + name + "'") + ": " + strerror(failed));
}

}  // namespace

std::string read_file(const std::string& name) {
  const std::unique_ptr<FILE, CloseFile> opened(name == "-" ? nullptr : fopen(name.c_str(), "rb"));
  FILE* file = name == "-" ? stdin : opened.get();
  if (file == nullptr) throw UsageError("cannot read '" + name + "': " + strerror(errno));
  std::string content;
  char piece[65536];
  while (const std::size_t count = fread(piece, 1, sizeof piece, file)) content.append(piece, count);
  if (ferror(file) != 0) throw UsageError("cannot read '" + name + "': " + strerror(errno));
  return content;
}

bool is_module(std::string_view content) { return content.starts_with("FERRYMOD"); }

void write_file(const std::string& name, const void* bytes, std::size_t count) {
  const int failed = npy::write_whole_file(name, {static_cast<const std::uint8_t*>(bytes), count});
  // The reader of the output may close the pipe early.
  if (failed != 0 && (name != "-" || failed != EPIPE)) refuse_to_write(name, failed);
}

void expect_writable(const std::string& name) {
  if (name == "-") return;
  struct stat now{};
  if (stat(name.c_str(), &now) == 0) {
    if (S_ISDIR(now.st_mode)) refuse_to_write(name, EISDIR);
    if (access(name.c_str(), W_OK) != 0) refuse_to_write(name, errno);
    return;
  }
  if (errno != ENOENT) refuse_to_write(name, errno);
  const std::string folder = std::filesystem::path(name).parent_path().string();
  if (access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) refuse_to_write(name, errno);
}

}  // namespace ferry
