#include "module/blob_layout.h"

#include "base/format.h"

namespace ferry {
namespace {

constexpr std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kBlobAlignment - 1) / kBlobAlignment * kBlobAlignment;
}

}  // namespace

std::vector<std::uint64_t> blob_offsets(const Manifest& manifest, std::uint64_t module_bytes) {
  std::vector<std::uint64_t> offsets;
  std::uint64_t end = module_bytes;
  for (const Blob& blob : manifest.blobs) {
    offsets.push_back(aligned(end));
    end = offsets.back() + blob.bytes;
  }
  offsets.push_back(end);
  return offsets;
}

Result<bool> has_blobs(const Manifest& manifest, std::uint64_t module_bytes, std::uint64_t file_bytes) {
  if (file_bytes == module_bytes) return false;
  const std::uint64_t expected = blob_offsets(manifest, module_bytes).back();
  if (file_bytes == expected) return true;
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  const std::string with_blobs =
      manifest.blobs.empty() ? std::string() : format(", or of %llu with its blobs", number(expected));
  return Status(ErrorCode::invalid_argument, format("module: expected a file of %llu bytes%s, got %llu",
                                                    number(module_bytes), with_blobs.c_str(), number(file_bytes)));
}

}  // namespace ferry
