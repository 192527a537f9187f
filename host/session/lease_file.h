// The file that makes the boards of a lease usable by other commands for as long as it lasts: "lease:FILE" or
// "lease:FILE#N" is the first or Nth of them. It holds the keys of sessions on the boards, so only its owner may read
// it.
//
//     ferry-lease-1 9f3c0a11d2e4b567 lab
//     board 192.168.1.17:9090 ferry-key-1:0123... pi-3
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rpc/farm/messages.h"

namespace ferry::session {

inline constexpr std::string_view kLeaseScheme = "lease:";

struct LeaseFile {
  std::string farm;  // as the user calls it
  std::uint64_t lease = 0;
  std::vector<farm::wire::GrantedSlot> boards;
};

// Makes the file. Throws Error, also if there is one already.
void write_lease_file(const std::string& path, const LeaseFile& lease);
// Throws Error that names the file, the line and what was expected, also if others may read or change it.
LeaseFile read_lease_file(const std::string& path);

}  // namespace ferry::session
