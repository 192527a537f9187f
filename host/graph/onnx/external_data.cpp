#include "host/graph/onnx/external_data.h"

#include <filesystem>
#include <system_error>

#include "base/format.h"
#include "base/printable.h"
#include "ferry/error.h"

namespace ferry::graph::onnx {

namespace fs = std::filesystem;

namespace {

// Returns the file's path if it lies in the folder, once all links are followed.
std::string path_inside(const fs::path& folder, const std::string& location) {
  const fs::path relative(location);
  bool leaves = relative.is_absolute() || relative.empty();
  for (const fs::path& part : relative) leaves = leaves || part == "..";
  if (leaves || location.find('\0') != std::string::npos) {
    throw UsageError("expected external data inside the model's folder, got '" + printable(location) + "'");
  }
  std::error_code failed;
  const fs::path root = fs::canonical(folder.empty() ? "." : folder, failed);
  const fs::path target = failed ? fs::path() : fs::canonical(root / relative, failed);
  if (failed) throw UsageError("cannot read the external data '" + printable(location) + "': " + failed.message());
  const auto [at, _] = std::mismatch(root.begin(), root.end(), target.begin(), target.end());
  if (at != root.end()) {
    throw UsageError("expected external data inside the model's folder, got '" + printable(location) +
                     "', a symbolic link out of it");
  }
  return target.string();
}

}  // namespace

ConstantData ExternalFiles::read(const std::string& location, std::int64_t offset, std::int64_t length) {
  const auto [entry, is_new] = files_.try_emplace(location);
  if (is_new) {
    std::string path = path_inside(fs::path(model_path_).parent_path(), location);
    MappedFile contents = map_file(path);
    entry->second = {std::move(path), std::move(contents)};
  }
  const MappedFile& file = entry->second.contents;
  const auto size = static_cast<std::int64_t>(file.bytes.size());
  if (length < 0) length = std::max<std::int64_t>(0, size - offset);
  if (offset < 0 || offset > size || length > size - offset) {
    throw UsageError(format("expected external data inside '%s' of %lld bytes, got %lld bytes at offset %lld",
                            printable(location).c_str(), static_cast<long long>(size), static_cast<long long>(length),
                            static_cast<long long>(offset)));
  }
  return {file.bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(length)), file.mapping};
}

std::vector<std::string> ExternalFiles::paths() const {
  std::vector<std::string> paths;
  for (const auto& [_, file] : files_) paths.push_back(file.path);
  return paths;
}

}  // namespace ferry::graph::onnx
