#include "tests/support/kept/kept_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>

#include "base/cache_folder.h"
#include "base/hash_stream.h"
#include "crosscompile/confine/run_confined.h"
#include "tests/paths.h"

namespace ferry::test {
namespace {

constexpr std::uint64_t kMaxBytes = 1 << 30;

Hash hash_of(const std::vector<std::string>& inputs) {
  HashStream stream;
  const auto add = [&](std::string_view text) {
    stream.add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  };
  for (const std::string& input : inputs) {
    add(std::to_string(input.size()) + ":");
    add(input);
  }
  return stream.finish();
}

}  // namespace

std::string file_contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string version_of(std::string_view program) {
  const std::string file = confine::find_program(std::string(program));
  struct stat info{};
  if (file.empty() || stat(file.c_str(), &info) != 0) return "";
  return file + " " + std::to_string(info.st_size) + " " + std::to_string(info.st_mtim.tv_sec);
}

std::string kept_file(const std::vector<std::string>& inputs,
                      const std::function<void(const std::string& path)>& make) {
  static const CacheFolder folder = [] {
    const std::string path = FERRY_BINARY_DIR "/kept";
    std::filesystem::create_directories(path);
    return CacheFolder(path, "file", ".kept", kMaxBytes);
  }();
  const Hash hash = hash_of(inputs);
  std::string kept = folder.path_of(hash);
  std::uint64_t bytes = 0;
  if (folder.open_file(hash, bytes).number() >= 0) return kept;
  const std::string part = kept + ".part" + std::to_string(getpid());
  make(part);
  if (!std::filesystem::exists(part)) throw std::runtime_error("expected a file to be made as " + part + ", got none");
  folder.make_room(std::filesystem::file_size(part));
  std::filesystem::rename(part, kept);
  return kept;
}

}  // namespace ferry::test
