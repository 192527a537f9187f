// A server of PostgreSQL, from Debian's package, on a socket in a temporary folder, and maybe at an address. It ends
// with this object, or with the thread that has started it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/farm/temporary_folder.h"

namespace ferry::test {

class PostgresServer {
 public:
  enum class Sync : std::uint8_t { off, on };

  // Where else it listens, for clients in the subnet.
  struct Host {
    int network_namespace;
    std::string address, subnet;
  };

  // Throws what is wrong if there is no server within half a minute. Without Sync it does not wait for the disk, as no
  // test takes the power away.
  explicit PostgresServer(Sync sync = Sync::off, std::optional<Host> host = std::nullopt);
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer();

  // Returns the URI of a new, empty database, at the address if there is one. Options are those of CREATE DATABASE.
  std::string make_database(const std::string& options = "");

  // At once, so that all connections are lost.
  void stop();
  void start();

 private:
  void make_data();
  // Starts a program as PostgreSQL's user. Its output goes to NAME.log in the folder.
  pid_t start_program(const std::string& path, const std::vector<std::string>& arguments, int input = -1) const;
  // Waits for it, and throws what it wrote if it fails.
  void run_program(const std::string& name, pid_t process) const;
  std::string uri(const std::string& database) const;

  Sync sync_;
  std::optional<Host> host_;
  TemporaryFolder folder_;
  std::string programs_;
  pid_t server_ = -1;
  int databases_ = 0;
};

}  // namespace ferry::test
