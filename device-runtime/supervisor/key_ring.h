// The keys that a server accepts: one file, or every *.key in a folder. They are read anew for each client, so that
// deleting a file shuts its holders out at once and a new file lets others in, without a restart.
#pragma once

#include <optional>
#include <string>

#include "rpc/secure/key.h"

namespace ferry::device {

class KeyRing {
 public:
  // `path` is a file or a folder; empty stands for secure::default_key_folder(). Where there is no key yet, one is
  // made. Anything else that is wrong with it (no home, not readable, others may read it) is a failure that says what.
  static Result<KeyRing> open(const std::string& path);

  // Nothing when none of them has this id. busy when that cannot be known just now, for want of descriptors or memory.
  Result<std::optional<secure::Key>> find(const secure::KeyId& id) const;

  const std::string& path() const { return path_; }
  // Of the key that open() made; empty when there was one.
  const std::string& made() const { return made_; }

 private:
  static Result<KeyRing> open_or_make(const std::string& path);

  std::string path_;
  std::string made_;
};

}  // namespace ferry::device
