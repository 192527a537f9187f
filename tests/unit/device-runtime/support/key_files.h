// Keys for the servers and clients of tests, in a folder that is removed with this object.
#pragma once

#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "rpc/secure/key.h"

namespace ferry::test {

class KeyFiles {
 public:
  KeyFiles() {
    char pattern[] = "/tmp/ferry-test-keys-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    folder_ = pattern;
  }
  ~KeyFiles() { std::filesystem::remove_all(folder_); }
  KeyFiles(const KeyFiles&) = delete;
  KeyFiles& operator=(const KeyFiles&) = delete;

  const std::string& folder() const { return folder_; }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  secure::Key add(const std::string& name) const {
    const secure::Key key = secure::make_key();
    const Status written = secure::write_key_file(path(name), key);
    REQUIRE_MESSAGE(written.is_ok(), written.message());
    return key;
  }

 private:
  std::string folder_;
};

}  // namespace ferry::test
