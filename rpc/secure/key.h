// The keys that clients and servers share: 32 random bytes in a file that only its owner can read.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "rpc/secure/noise.h"

namespace ferry::secure {

// Identifies the key that a client holds without revealing anything about it: a hash of the key.
using KeyId = std::array<std::uint8_t, 16>;

struct Key {
  KeyBytes bytes;
  KeyId id() const;
};

Key make_key();

// Returns 32 lower-case hexadecimal digits.
std::string to_text(const KeyId& id);

// Returns the contents of a key file: "ferry-key-1:" and 64 hexadecimal digits on one line, and comments. The string is
// never reallocated, so the caller can wipe every copy of the key.
std::string to_file_text(const Key& key);
// invalid_argument names the line and what was expected.
Result<Key> parse_key(std::string_view text);

// Errors are not_found if the file does not exist, resource_exhausted if it cannot be read at the moment for lack of
// descriptors or memory, and invalid_argument otherwise: it holds no key, or users other than its owner may read or
// change it. The message names the file.
Result<Key> read_key_file(const std::string& path);
// Creates a file with this key, readable by its owner alone. The file appears with its full contents or not at all, and
// an existing file is never replaced. Missing parent folders are created.
Status write_key_file(const std::string& path, const Key& key);
// Replaces the file: afterwards, and after a crash or a failure, it holds the previous key or this one.
// base/replace_file.h
Status replace_key_file(const std::string& path, const Key& key);

// Returns the folder for ferry's files of this user: $XDG_CONFIG_HOME/ferry or ~/.config/ferry. Empty if the user has
// no home folder.
std::string config_folder();
// Returns the folder where rpc_server, unless configured otherwise, looks for keys and stores the one it creates:
// server-keys in config_folder(); empty if that is empty. A client on the same machine finds the key there.
std::string default_key_folder();
inline constexpr const char* kFirstKeyName = "default.key";

}  // namespace ferry::secure
