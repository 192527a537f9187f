// The keys of modules in the cache: hashes of everything that the bytes of a module depend on.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_stream.h"
#include "ferry/target/target.h"
#include "host/compiler/api/compiler.h"
#include "host/compiler/api/network.h"

namespace ferry {

// Returns whether the files exist and have not been changed since this time, at which they began to be read.
bool are_unchanged(const std::vector<std::string>& paths, std::chrono::system_clock::time_point read);

// Returns the hash of this program and the libraries that it had loaded at the first call. Libraries that are loaded
// later, as by looking up a host's name, are no part of the compiler.
const Hash& build_identity();

// Values are hashed with their lengths, so that different sequences have different hashes.
class CacheKey {
 public:
  // Begins with build_identity(), so that another build has other keys.
  CacheKey();

  void add(std::string_view text);
  void add(std::uint64_t number);
  void add(const Target& target);
  void add_sizes(const std::map<std::string, std::int64_t>& sizes);
  void add(const NetworkSource& source);
  void add(const NetworkRequest& request);
  // Adds the versions of the tools that compile for the target.
  void add_tools(const Target& target);
  // Adds the contents of files that were read from this time on. Returns false if one cannot be read or has been
  // changed since, so that what was read may be something else.
  bool add_files(const std::vector<std::string>& paths, std::chrono::system_clock::time_point read);
  // Returns the hash, once.
  Hash finish() { return hash_.finish(); }

 private:
  // Adds which version of a program or library this is, by its time and size; the path may be empty.
  void add_tool(const std::string& path);

  HashStream hash_;
};

}  // namespace ferry
