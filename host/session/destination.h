// Where a device is and how one gets there, out of what a person wrote.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rpc/secure/key.h"
#include "rpc/transport/tcp.h"

namespace ferry::session {

struct SshAddress {
  std::string user;  // empty: ssh decides
  std::string host;
  std::uint16_t port = 0;  // 0: ssh decides
};

enum class Way { encrypted, plaintext, ssh };

struct Destination {
  std::string name;  // for messages: the address
  Way way = Way::encrypted;
  TcpAddress tcp;
  SshAddress ssh;
  std::optional<secure::Key> key;  // when encrypted
  std::string key_file;            // that it came from
};

// `remote` is the name of a device in devices.toml or an address: HOST, HOST:PORT, ssh://[USER@]HOST[:PORT], or, for
// loopback alone, plaintext://HOST[:PORT].
//
// The key is that of `key_file`, else of the device's entry, else of FERRY_KEY_FILE, else of the entry that has the
// same address, else, for a loopback address, the one that rpc_server made on this machine for the same user.
// RemoteError says what is wrong and what would help.
Destination find_destination(std::string_view remote, const std::string& key_file);

}  // namespace ferry::session
