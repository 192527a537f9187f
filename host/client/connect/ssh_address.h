// Addresses of machines that are reached by ssh.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ferry::session {

inline constexpr std::string_view kSshScheme = "ssh://";

struct SshAddress {
  std::string user;  // empty: ssh's default
  std::string host;
  std::uint16_t port = 0;  // 0: ssh's default
};

// Parses ssh://[USER@]HOST[:PORT]. Throws Error that says what was expected.
SshAddress parse_ssh_address(std::string_view text);

}  // namespace ferry::session
