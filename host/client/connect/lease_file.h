// The file that makes the boards of a lease usable by other commands for as long as it lasts: "lease:FILE" or
// "lease:FILE#N" is the first or Nth of them. It holds the keys of sessions on the boards, so only its owner may read
// it.
//
//     ferry-lease-1 9f3c0a11d2e4b567 lab
//     board 192.168.1.17:9090 ferry-key-1:0123... pi-3
//     ssh-board ssh://pi@pi-4 17 1764000000000 ferry-key-1:4567... pi-4
//
// A board that is reached by ssh also has the lease's epoch there, and the time at which the lease ends, in
// milliseconds since 1970: its sessions end with it. The epoch, and no clock, keeps later leases apart from this one;
// by the key its sessions know each other.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/client/connect/leased_board.h"
#include "host/client/connect/schemes.h"

namespace ferry::session {

inline constexpr std::string_view kLeaseScheme = "lease:";

struct LeaseFile {
  std::string farm;   // as the user calls it
  std::string lease;  // its id in the farm, up to 16 hexadecimal digits
  std::vector<LeasedBoard> boards;
  // For how long the lease lasts, at least. Only boards that are reached by ssh have it in the file.
  std::chrono::milliseconds remaining{0};
};

// Makes the file. Throws Error, also if there is one already.
void write_lease_file(const std::string& path, const LeaseFile& lease);
// Replaces the file at once, after the lease was extended. Throws Error.
void replace_lease_file(const std::string& path, const LeaseFile& lease);
// Throws Error that names the file, the line and what was expected, also if others may read or change it.
LeaseFile read_lease_file(const std::string& path);

// Finds the way to a board of a lease, by its index, that cannot be reached directly.
using DetourOf = std::function<Detour(const LeaseFile& lease, std::size_t board)>;

Scheme lease_file_scheme(DetourOf detour_of = {});

}  // namespace ferry::session
