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
#include "host/client/blobs/module_with_blobs.h"
#include "host/client/npy/whole_file.h"

namespace ferry {

namespace {

struct CloseFile {
  void operator()(FILE* file) const { fclose(file); }
};

[[noreturn]] void refuse_to_write(const std::string& name, int failed) {
  throw UsageError("cannot write " + (name == "-" ? "the output" : "'" + name + "'") + ": " + strerror(failed));
}

void expect_written(const std::string& name, int failed) {
  // The reader of the output may close the pipe early.
  if (failed != 0 && (name != "-" || failed != EPIPE)) refuse_to_write(name, failed);
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

bool is_module_file(const std::string& name) {
  const std::unique_ptr<FILE, CloseFile> file(name == "-" ? nullptr : fopen(name.c_str(), "rb"));
  struct stat info{};
  if (file == nullptr || fstat(fileno(file.get()), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  char first[8];
  return is_module({first, fread(first, 1, sizeof first, file.get())});
}

void write_file(const std::string& name, const void* bytes, std::size_t count) {
  expect_written(name, npy::write_whole_file(name, {static_cast<const std::uint8_t*>(bytes), count}));
}

void write_module(const std::string& name, const CompiledModule& module) {
  expect_written(name, write_module_file(name, module.bytes(), module.manifest(), module.blobs()));
}

bool is_replaceable(const std::string& name) {
  struct stat now{};
  return name != "-" && (stat(name.c_str(), &now) != 0 || S_ISREG(now.st_mode));
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
