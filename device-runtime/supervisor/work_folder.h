// Where a server keeps files: the folder it was given, which stays, or a private one that goes with it.
#pragma once

#include <string>

#include "rpc/base/status.h"

namespace ferry::device {

class WorkFolder {
 public:
  // Empty: a new private folder under $TMPDIR. The folder is made if it is not there, for this user alone.
  static Result<WorkFolder> open(const std::string& path);
  WorkFolder(WorkFolder&& other) noexcept;
  WorkFolder& operator=(WorkFolder&&) = delete;
  // Removes a private folder with all that is in it.
  ~WorkFolder();

  // For module files.
  std::string modules() const { return path_ + "/modules"; }
  const std::string& path() const { return path_; }

 private:
  WorkFolder(std::string path, bool is_private) : path_(std::move(path)), private_(is_private) {}

  std::string path_;
  bool private_;
};

}  // namespace ferry::device
