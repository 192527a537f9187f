// A folder of files that are named by hashes and kept for later processes, such as the sessions of a server. They use
// it concurrently: files appear completely or not at all, and are never modified. Every one of them may write to the
// folder, so a reader checks the contents of what it finds there.
//
// Files may have holders, who are told apart by a number: nobody finds the files of another one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/descriptor.h"
#include "base/status.h"
#include "ferry/hash.h"

namespace ferry {

class CacheFolder {
 public:
  // The folder must exist and be writable; if it is empty, nothing is stored. About max_bytes of files are kept in
  // total. What nobody has used for a week is deleted first, and then the least recently used files of the holder with
  // the most bytes, so that nobody displaces what another one keeps within an equal share.
  // `noun` is what it stores, "module" or "blob".
  CacheFolder(std::string folder, const char* noun, const char* extension, std::uint64_t max_bytes)
      : folder_(std::move(folder)), noun_(noun), extension_(extension), max_bytes_(max_bytes) {}

  const std::string& folder() const { return folder_; }
  std::uint64_t max_bytes() const { return max_bytes_; }
  // Returns resource_exhausted with the reason that errno states.
  Status failed_to_store() const;
  // From here on only files of this holder are found and stored; 0: those without one.
  void set_holder(std::uint64_t holder) { holder_ = holder; }
  std::string path_of(const Hash& hash) const;

  // Opens a file for reading, which counts as its use. Returns its size, or 0 if there is none.
  Descriptor open_file(const Hash& hash, std::uint64_t& bytes) const;
  // Deletes complete files until there is room for another of this size, and those that a process that was killed has
  // left incomplete.
  void make_room(std::uint64_t bytes) const;

 private:
  std::string folder_;
  const char* noun_;
  const char* extension_;
  std::uint64_t max_bytes_;
  std::uint64_t holder_ = 0;
  mutable std::uint64_t room_ = 0;  // room left at the last scan, which is slow with many files
};

// A file that is written beside the others and appears among them when it is complete. Failures are
// resource_exhausted.
class NewCacheFile {
 public:
  // The folder must outlive the file.
  static Result<NewCacheFile> create(const CacheFolder& folder);
  NewCacheFile(NewCacheFile&& other) noexcept
      : folder_(other.folder_), file_(std::move(other.file_)), path_(std::exchange(other.path_, {})) {}
  NewCacheFile& operator=(NewCacheFile&&) = delete;
  // Deletes the file unless it was published, or left to another process.
  ~NewCacheFile();

  int number() const { return file_.number(); }
  // Another process, a child of this one, owns the file from now on.
  void leave() { path_.clear(); }
  void remove();
  // Reserves space on the disk, where that is possible.
  Status reserve(std::uint64_t bytes);
  Status add(std::span<const std::uint8_t> bytes);
  // Gives the file its hash as its name, and this mode. Returns a descriptor for reading it.
  Result<Descriptor> publish(const Hash& hash, mode_t mode);

 private:
  NewCacheFile(const CacheFolder& folder, Descriptor file, std::string path)
      : folder_(folder), file_(std::move(file)), path_(std::move(path)) {}

  const CacheFolder& folder_;
  Descriptor file_;
  std::string path_;  // empty: published or left
};

}  // namespace ferry
