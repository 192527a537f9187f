#include "crosscompile/link/temporary_folder.h"

#include "crosscompile/ir/error.h"

#include <stdlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace ferry::link {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void fail(const std::string& what, const std::string& path) {
  throw CompileError("cannot " + what + " " + path + ": " + std::strerror(errno));
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  const char* configured = getenv("TMPDIR");
  std::string pattern = configured != nullptr && *configured != '\0' ? configured : "/tmp";
  pattern += "/ferry-link-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) fail("make a temporary folder like", pattern);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
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
