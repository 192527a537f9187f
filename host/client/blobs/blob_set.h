// Contents of blobs, each in memory or in a range of a file. Those of files are read when they are needed and never
// held in memory as a whole.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "ferry/blob_source.h"
#include "module/manifest.h"

namespace ferry {

class BlobSet final : public BlobSource {
 public:
  // Both return the entry for the manifest's list of blobs. Equal contents are one blob. A range of a file is read
  // once, for its hash. Throw UsageError when there are no bytes, or when the file cannot be read or is shorter.
  Blob add(std::vector<std::uint8_t> bytes);
  Blob add(const std::string& file, std::uint64_t offset, std::uint64_t bytes);
  // Add a range whose hash is known.
  void add(const Blob& blob, const std::string& file, std::uint64_t offset);
  void add(const Blob& blob, const std::string& file, Descriptor opened);  // the whole of a file that is open already
  void add(const Blob& blob, std::shared_ptr<const std::vector<std::uint8_t>> memory, std::uint64_t offset);

  bool is_empty() const { return contents_.empty(); }
  bool has(const Hash& blob) const override { return contents_.contains(blob); }
  void read(const Hash& blob, std::uint64_t offset, std::span<std::uint8_t> into) const override;

 private:
  struct File {
    std::string name;
    Descriptor descriptor;
  };
  struct Contents {
    std::shared_ptr<const std::vector<std::uint8_t>> memory;  // null: in the file
    std::shared_ptr<const File> file;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };

  std::shared_ptr<const File> open_file(const std::string& name);

  std::map<Hash, Contents> contents_;
  std::map<std::string, std::shared_ptr<const File>> files_;
};

}  // namespace ferry
