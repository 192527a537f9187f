// The keys that clients and servers share: 32 random bytes in a file that only its owner reads.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "rpc/secure/noise.h"

namespace ferry::secure {

// Says which key a client holds, without telling anything about it: a hash.
using KeyId = std::array<std::uint8_t, 16>;

struct Key {
  KeyBytes bytes;
  KeyId id() const;
};

Key make_key();

// 32 lower-case hexadecimal digits.
std::string to_text(const KeyId& id);

// What stands in a key's file: "ferry-key-1:" and 64 hexadecimal digits on a line of their own, and comments. Lies in
// one piece of memory from the start, which is the caller's to wipe.
std::string to_file_text(const Key& key);
// invalid_argument names the line and what was expected.
Result<Key> parse_key(std::string_view text);

// not_found when there is no such file; resource_exhausted when it cannot be read just now, for want of descriptors or
// memory; invalid_argument says what is wrong with it: no key in it, or others than its owner may read or change it.
// The sentence names the file.
Result<Key> read_key_file(const std::string& path);
// A new file, for its owner alone, with this key in it; whole or not at all. Never replaces one. Folders above it are
// made as needed.
Status write_key_file(const std::string& path, const Key& key);

// Where programs of this user keep what belongs to ferry: $XDG_CONFIG_HOME/ferry or ~/.config/ferry. Empty when the
// user has no home.
std::string config_folder();
// Where rpc_server looks for keys, and puts the one it makes, unless it is told otherwise: server-keys in
// config_folder(); empty when there is none. A client on the same machine finds that key there.
std::string default_key_folder();
inline constexpr const char* kFirstKeyName = "default.key";

}  // namespace ferry::secure
