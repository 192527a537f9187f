// The server's file storage: the folder that it was given, which persists, or a private one that is removed with it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/descriptor.h"
#include "base/status.h"

namespace ferry::device {

class WorkFolder {
 public:
  // An empty path creates a new private folder under $TMPDIR, /tmp or /dev/shm, or none if nothing is writable. A named
  // folder is created for this user alone if it does not exist; an existing one is refused unless it belongs to this
  // user or root and others cannot write to it. Files left there by servers that were killed are removed, and the
  // folders for modules and blobs are made this user's alone again, with nothing in them but such files.
  static Result<WorkFolder> open(const std::string& path);
  WorkFolder(WorkFolder&& other) noexcept;
  WorkFolder& operator=(WorkFolder&&) = delete;
  // Removes a private folder with its contents.
  ~WorkFolder();

  // The folders for module files and blobs; empty if there is no work folder.
  std::string modules() const { return path_.empty() ? "" : path_ + "/modules"; }
  std::string blobs() const { return path_.empty() ? "" : path_ + "/blobs"; }
  const std::string& path() const { return path_; }

  // Creates a folder for one session; empty if that is impossible.
  std::string make_session_folder(std::uint64_t session, uid_t owner, gid_t group) const;
  // Lets sessions that run as another user reach their own folders, by name, and see nothing else here.
  void let_others_pass() const;

 private:
  WorkFolder(std::string path, bool is_private, Descriptor lock)
      : path_(std::move(path)), private_(is_private), lock_(std::move(lock)) {}
  Status make_caches() const;

  std::string path_;
  bool private_;
  Descriptor lock_;  // a private folder is in use as long as its lock is held
};

}  // namespace ferry::device
