// A server of PostgreSQL, from Debian's package, on a socket in a temporary folder. It ends with this object, or with
// the thread that has started it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/farm/temporary_folder.h"

namespace ferry::test {

class PostgresServer {
 public:
  enum class Sync : std::uint8_t { off, on };

  // Throws what is wrong if there is no server within half a minute. Without Sync it does not wait for the disk, as no
  // test takes the power away.
  explicit PostgresServer(Sync sync = Sync::off);
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer();

  // Returns the URI of a new, empty database. Options are those of CREATE DATABASE.
  std::string make_database(const std::string& options = "");

  // At once, so that all connections are lost.
  void stop();
  void start();

 private:
  pid_t start_program(const std::string& program, const std::vector<std::string>& arguments) const;
  std::string uri(const std::string& database) const;

  Sync sync_;
  TemporaryFolder folder_;
  std::string programs_;
  pid_t server_ = -1;
  int databases_ = 0;
};

}  // namespace ferry::test
