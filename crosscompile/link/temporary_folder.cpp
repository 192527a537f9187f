#include "crosscompile/link/temporary_folder.h"

#include "crosscompile/ir/error.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>

namespace ferry::link {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void fail(const std::string& what, const std::string& path) {
  throw CompileError("cannot " + what + " " + path + ": " + std::strerror(errno));
}

void remove_folder(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

// The folders that exist now.
struct Folders {
  std::mutex mutex;
  std::set<std::string> paths;
};

void remove_all_folders();

// The object is never destroyed, because std::quick_exit may be called at any time.
Folders& folders() {
  static auto* all = [] {
    std::at_quick_exit(remove_all_folders);
    return new Folders;
  }();
  return *all;
}

// Other threads run until the process ends: the mutex stays locked, so that they make no new folder, and a folder in
// which one has just made a file is removed once more.
void remove_all_folders() {
  constexpr int kTries = 100;
  folders().mutex.lock();
  for (const std::string& path : folders().paths)
    for (int i = 0; i < kTries && std::filesystem::exists(path); ++i) remove_folder(path);
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  const std::lock_guard lock(folders().mutex);
  const char* configured = getenv("TMPDIR");
  std::string pattern = configured != nullptr && *configured != '\0' ? configured : "/tmp";
  pattern += "/ferry-link-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) fail("make a temporary folder like", pattern);
  path_ = pattern;
  folders().paths.insert(path_);
}

TemporaryFolder::~TemporaryFolder() {
  remove_folder(path_);
  const std::lock_guard lock(folders().mutex);
  folders().paths.erase(path_);
}

void write_file(const std::string& path, std::span<const std::uint8_t> bytes) {
  File file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr) fail("create", path);
  if (std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size()) fail("write", path);
  if (std::fclose(file.release()) != 0) fail("write", path);
}

void write_file(const std::string& path, std::string_view text) {
  write_file(path, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

std::vector<std::uint8_t> read_file(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) fail("open", path);
  std::error_code error;
  std::vector<std::uint8_t> bytes(std::filesystem::file_size(path, error));
  if (error || std::fread(bytes.data(), 1, bytes.size(), file.get()) != bytes.size()) fail("read", path);
  return bytes;
}

}  // namespace ferry::link
