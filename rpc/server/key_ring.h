// The keys that a server accepts: one file, or every *.key in a folder. They are read for each client, so that deleting
// a file excludes its holders at once and a new file admits others, without a restart.
#pragma once

#include <optional>
#include <string>

#include "rpc/secure/key.h"

namespace ferry::server {

class KeyRing {
 public:
  // `path` is a file or a folder; empty stands for secure::default_key_folder(). If there is no key yet, one is
  // created. Any other problem (no home folder, unreadable, readable by others) is a failure that describes it.
  static Result<KeyRing> open(const std::string& path);

  // Returns nothing if no key has this id; fails with busy if that cannot be determined at the moment for lack of
  // descriptors or memory.
  Result<std::optional<secure::Key>> find(const secure::KeyId& id) const;

  const std::string& path() const { return path_; }
  // Path of the key that open() created; empty if there already was one.
  const std::string& made() const { return made_; }

 private:
  static Result<KeyRing> open_or_make(const std::string& path);

  std::string path_;
  std::string made_;
};

}  // namespace ferry::server
