// The keys that a server accepts: one file, or every *.key in a folder. They are read for each client, so that deleting
// a file excludes its holders at once and a new file admits others, without a restart.
#pragma once

#include <optional>
#include <string>

#include "rpc/server/key_source.h"

namespace ferry::server {

class KeyRing final : public KeySource {
 public:
  // `path` is a file or a folder; empty stands for secure::default_key_folder(). If there is no key yet, one is
  // created. Any other problem (no home folder, unreadable, readable by others) is a failure that describes it.
  static Result<KeyRing> open(const std::string& path);

  Result<std::optional<secure::Key>> find(const secure::KeyId& id) const override;

  const std::string& path() const { return path_; }
  // Path of the key that open() created; empty if there already was one.
  const std::string& made() const { return made_; }

 private:
  static Result<KeyRing> open_or_make(const std::string& path);

  std::string path_;
  std::string made_;
};

}  // namespace ferry::server
