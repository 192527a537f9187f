#include "host/client/blobs/module_with_blobs.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/throw_status.h"
#include "host/client/blobs/blob_set.h"
#include "host/client/npy/whole_file.h"
#include "module/blob_layout.h"

namespace ferry {

namespace {

constexpr std::size_t kCopiedBytes = std::size_t{4} << 20;

struct CloseStream {
  void operator()(FILE* file) const { fclose(file); }
};

[[noreturn]] void refuse_file(const std::string& file, const std::string& why) {
  throw UsageError("cannot read '" + file + "': " + why);
}

// Appends up to `most` bytes of the file and returns whether there were as many.
bool append_from(FILE* file, std::uint64_t most, std::vector<std::uint8_t>& bytes) {
  const std::size_t before = bytes.size(), wanted = static_cast<std::size_t>(most);
  bytes.resize(before + wanted);
  const std::size_t count = fread(bytes.data() + before, 1, wanted, file);
  bytes.resize(before + count);
  return count == wanted;
}

// Calls add(blob, offset) for each blob whose contents follow the module.
template <class Add>
void add_blobs(const ModuleWithBlobs& module, std::uint64_t file_bytes, Add add) {
  const Manifest& manifest = module.module.manifest;
  if (!value_or_throw(has_blobs(manifest, module.bytes.size(), file_bytes))) return;
  const std::vector<std::uint64_t> offsets = blob_offsets(manifest, module.bytes.size());
  for (std::size_t i = 0; i < manifest.blobs.size(); ++i) add(manifest.blobs[i], offsets[i]);
}

}  // namespace

ModuleWithBlobs read_module_file(const std::string& name) {
  const std::unique_ptr<FILE, CloseStream> file(fopen(name.c_str(), "rb"));
  struct stat info{};
  if (file == nullptr || fstat(fileno(file.get()), &info) != 0) refuse_file(name, strerror(errno));
  ModuleWithBlobs read;
  if (!S_ISREG(info.st_mode)) {
    while (append_from(file.get(), kCopiedBytes, read.bytes)) {
    }
    return divide_module(std::move(read.bytes));
  }
  const auto file_bytes = static_cast<std::uint64_t>(info.st_size);
  append_from(file.get(), kModuleHeaderBytes, read.bytes);
  const std::uint64_t end = std::min(value_or_throw(module_length(read.bytes)), file_bytes);
  if (end > read.bytes.size()) append_from(file.get(), end - read.bytes.size(), read.bytes);
  if (ferror(file.get()) != 0) refuse_file(name, strerror(errno));
  read.module = value_or_throw(read_module(read.bytes));
  const auto blobs = std::make_shared<BlobSet>();
  add_blobs(read, file_bytes, [&](const Blob& blob, std::uint64_t offset) { blobs->add(blob, name, offset); });
  if (!blobs->is_empty()) read.blobs = blobs;
  return read;
}

ModuleWithBlobs divide_module(std::vector<std::uint8_t> bytes) {
  const std::uint64_t end = std::min<std::uint64_t>(value_or_throw(module_length(bytes)), bytes.size());
  ModuleWithBlobs read;
  if (end == bytes.size()) {
    read.module = value_or_throw(read_module(bytes));
    read.bytes = std::move(bytes);
    return read;
  }
  read.bytes.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(end));
  read.module = value_or_throw(read_module(read.bytes));
  const auto blobs = std::make_shared<BlobSet>();
  const auto memory = std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes));
  add_blobs(read, memory->size(), [&](const Blob& blob, std::uint64_t offset) { blobs->add(blob, memory, offset); });
  read.blobs = blobs;
  return read;
}

int write_module_file(const std::string& file, std::span<const std::uint8_t> module, const Manifest& manifest,
                      const BlobSource* blobs) {
  const bool all_there = blobs != nullptr && std::all_of(manifest.blobs.begin(), manifest.blobs.end(),
                                                         [blobs](const Blob& blob) { return blobs->has(blob.hash); });
  if (!all_there) return npy::write_whole_file(file, module);
  return npy::write_whole_file(file, [&](const npy::AppendBytes& append) {
    const std::vector<std::uint64_t> offsets = blob_offsets(manifest, module.size());
    constexpr std::array<std::uint8_t, kBlobAlignment> kZeros{};
    std::uint64_t end = module.size();
    std::vector<std::uint8_t> piece;
    int failed = append(module);
    for (std::size_t i = 0; i < manifest.blobs.size() && failed == 0; ++i) {
      const Blob& blob = manifest.blobs[i];
      failed = append(std::span(kZeros).first(static_cast<std::size_t>(offsets[i] - end)));
      for (std::uint64_t done = 0; done < blob.bytes && failed == 0; done += piece.size()) {
        piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(blob.bytes - done, kCopiedBytes)));
        blobs->read(blob.hash, done, piece);
        failed = append(piece);
      }
      end = offsets[i] + blob.bytes;
    }
    return failed;
  });
}

}  // namespace ferry
