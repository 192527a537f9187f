// Resolves the address of a device as the user wrote it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "farm/client/relay.h"
#include "farm/protocol/messages.h"
#include "ferry/client.h"
#include "host/client/farm_address.h"
#include "rpc/secure/key.h"
#include "rpc/transport/tcp.h"

namespace ferry::session {

struct SshAddress {
  std::string user;  // empty: ssh's default
  std::string host;
  std::uint16_t port = 0;  // 0: ssh's default
};

// Parses ssh://[USER@]HOST[:PORT]. Throws Error that says what was expected.
SshAddress parse_ssh_address(std::string_view text);

struct SshOptions {
  // For a service: ssh asks nobody for a password.
  bool is_unattended = false;
  // Until when answers must have arrived, counted from the start; 0: however long the user takes to log in.
  std::chrono::milliseconds timeout{0};
  // Waiting ends when this can be read from; it belongs to the caller. -1: nothing.
  int cancelled = -1;
};

// What a session by ssh needs to know of the lease that it belongs to.
struct BoardClaim {
  std::uint64_t epoch = 0;
  std::chrono::steady_clock::time_point lasts_until;
  std::string key = {};  // letters and digits, the same for all sessions of the lease
};

enum class TransportKind { encrypted, plaintext, ssh, farm };

struct Destination {
  std::string name;  // the address, for messages
  // Of a board of a farm: "lab/pi-3", however it was selected and is reached.
  std::string board_name;
  TransportKind transport = TransportKind::encrypted;
  TcpAddress tcp;
  SshAddress ssh;
  std::optional<secure::Key> key;   // when encrypted
  std::string key_file;             // the file that contained it
  bool is_leased = false;           // the key is worthless when the lease has ended
  std::optional<BoardClaim> claim;  // of a leased board that is reached by ssh
  SshOptions ssh_options;
  SharedBoard board;                    // that is leased here; null: none
  std::optional<farm::RelayWay> relay;  // if the board cannot be reached otherwise
  // Of a farm, whose tracker says which board it is.
  FarmAddress farm_address;
  farm::FarmAccess farm;
};

// `remote` is the name of a device in devices.toml or an address: HOST, HOST:PORT, ssh://[USER@]HOST[:PORT],
// farm://FARM/SELECTOR, lease:FILE[#N], or, for loopback only, plaintext://HOST[:PORT].
//
// The key comes from `key_file`, otherwise from the device's entry, from FERRY_KEY_FILE, from the entry with the same
// address, or, for a loopback address, from the file that rpc_server made on this machine for the same user; that of a
// farm also from the farm's entry. Throws Error that says what is wrong and how to fix it.
Destination find_destination(std::string_view remote, const std::string& key_file);

// Whether what runs there runs on this machine, as far as the address says: it is empty, or of loopback. Throws Error
// for a damaged devices.toml.
bool is_on_this_machine(std::string_view remote);

// Whether the remote stands for boards of a farm.
bool is_of_farm(std::string_view remote);
// The farm whose boards the remote stands for, as find_farm() takes it; nothing for other remotes. Throws Error like
// parse_farm_address().
std::optional<std::string> farm_of(std::string_view remote);

// The board that was leased for a destination of the kind farm, or that a lease file holds; `remote` is what the user
// wrote, and `remaining` for how long the lease lasts from now on. Throws Error if the board's address is none.
Destination board_destination(const farm::wire::GrantedSlot& board, std::chrono::milliseconds remaining,
                              const std::string& remote);

}  // namespace ferry::session
