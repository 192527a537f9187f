// A real rpc_server, started for a test and stopped with it. FERRY_TEST_ARCH and FERRY_TEST_FLAVOUR choose one of the
// device builds, under an emulator where this machine needs one; without them it is the one built beside the tests.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::test {

// As manifests spell it: what the servers of this test run are built for.
std::string server_arch();

// The program and the words in front of it that run it here.
std::vector<std::string> server_command();
// Whether it runs without an emulator, which is slower and has system calls of its own.
inline bool is_native() { return server_command().size() == 1; }

struct ProcessResult {
  int exit_code = -1;  // 128 + the signal when one ended it
  std::string output;
  std::string errors;
};

// Runs the server program to its end, as a user would type it.
ProcessResult run_server_program(const std::vector<std::string>& arguments);

// Whom a server lets in whose arguments say nothing of keys: everybody, or holders of those it finds or makes itself.
enum class Access { open_to_all, by_keys };

class TestServer {
 public:
  // Listens on a free port of 127.0.0.1, lets everybody in without encryption and serves 8 sessions at a time unless
  // the arguments say otherwise. `wrapper` is a command that runs what stands behind it.
  explicit TestServer(std::vector<std::string> arguments = {}, const std::vector<std::string>& wrapper = {},
                      Access access = Access::open_to_all);
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  std::uint16_t port() const { return port_; }
  const std::string& first_line() const { return first_line_; }
  pid_t process() const { return process_; }
  // Sends the signal, waits for the end and returns the exit code as above.
  int stop(int signal);
  // What it wrote to standard error so far.
  std::string errors() const;

 private:
  pid_t process_ = -1;
  std::uint16_t port_ = 0;
  std::string first_line_;
  std::string error_file_;
};

// Processes whose parent this is.
std::vector<pid_t> children_of(pid_t process);

}  // namespace ferry::test
