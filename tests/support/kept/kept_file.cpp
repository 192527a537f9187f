#include "tests/support/kept/kept_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>

#include "base/cache_folder.h"
#include "base/hash_stream.h"
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
  const char* const path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(folder.size() + (folder.size() < rest.size() ? 1 : 0));
    const std::string file = std::string(folder) + "/" + std::string(program);
    struct stat info{};
    if (stat(file.c_str(), &info) != 0) continue;
    return file + " " + std::to_string(info.st_size) + " " + std::to_string(info.st_mtim.tv_sec);
  }
  return "";
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
