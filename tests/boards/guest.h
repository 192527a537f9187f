// A board: qemu-system running a real kernel and the static rpc_server of one architecture, and nothing else. Three
// ports on this machine's loopback lead to the three servers of tests/boards/init.c.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "rpc/secure/key.h"
#include "rpc/transport/transport.h"

namespace ferry::test {

// The ways in which the servers are started.
enum class Setting { bare, usual, modest };
inline constexpr std::array<Setting, 3> kSettings{Setting::bare, Setting::usual, Setting::modest};
std::string name_of(Setting setting);

class Guest {
 public:
  // Returns whether there is a kernel to boot; prints a message if there is none. Fails the test if qemu or the server
  // is missing.
  static bool is_possible(const std::string& arch);

  // Boots the board and waits until all three servers listen.
  explicit Guest(const std::string& arch);
  ~Guest();
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  std::uint16_t port(Setting setting) const { return ports_[static_cast<std::size_t>(setting)]; }
  // Opens an encrypted connection to one of the servers.
  std::unique_ptr<Transport> connect(Setting setting) const;
  // The key file to pass to client programs.
  const std::string& key_file() const { return key_file_; }
  // Everything that the kernel and the servers have printed.
  std::string console() const;

 private:
  std::string folder_, key_file_;
  secure::Key key_;
  std::array<std::uint16_t, 3> ports_{};
  pid_t process_ = -1;
};

}  // namespace ferry::test
