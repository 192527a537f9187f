// Where a server keeps files: the folder it was given, which stays, or a private one that goes with it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "device-runtime/supervisor/descriptor.h"
#include "rpc/base/status.h"

namespace ferry::device {

class WorkFolder {
 public:
  // Empty: a new private folder under $TMPDIR, /tmp or /dev/shm, or none where nothing can be written. The folder is
  // made if it is not there, for this user alone; one that is there is refused unless it belongs to this user or root
  // and others cannot write to it. What servers that were killed have left there is removed.
  static Result<WorkFolder> open(const std::string& path);
  WorkFolder(WorkFolder&& other) noexcept;
  WorkFolder& operator=(WorkFolder&&) = delete;
  // Removes a private folder with all that is in it.
  ~WorkFolder();

  // For module files; empty when there is no folder.
  std::string modules() const { return path_.empty() ? "" : path_ + "/modules"; }
  const std::string& path() const { return path_; }

  // A folder for one session; empty when there can be none.
  std::string make_session_folder(std::uint64_t session, uid_t owner, gid_t group) const;
  // Gives the folder of modules to those who write there.
  void give_modules_to(uid_t owner, gid_t group) const;

 private:
  WorkFolder(std::string path, bool is_private, Descriptor lock)
      : path_(std::move(path)), private_(is_private), lock_(std::move(lock)) {}
  Status make_modules() const;

  std::string path_;
  bool private_;
  Descriptor lock_;  // of a private folder: as long as it is held, the folder is in use
};

}  // namespace ferry::device
