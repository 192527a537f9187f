// A real rpc_server that runs for the duration of a test. FERRY_TEST_ARCH and FERRY_TEST_FLAVOUR select one of the
// device builds, run under an emulator if necessary; by default it is the server built together with the tests.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ferry/timing.h"

namespace ferry::test {

// The architecture of this test run's servers, as in manifests.
std::string server_arch();

// Returns the program, preceded by the command that runs it on this machine.
std::vector<std::string> server_command();
// How servers have to isolate what they measure: FERRY_TEST_ISOLATION selects the best way that is left to them,
// `trace` or `pipe`.
TimingIsolation possible_isolation();
// Returns whether the server runs without an emulator, which is slower and implements system calls itself.
inline bool is_native() { return server_command().size() == 1; }

struct ProcessResult {
  int exit_code = -1;  // 128 + the signal number if a signal ended it
  std::string output;
  std::string errors;
};

// Runs the server program to its end, as from a command line.
ProcessResult run_server_program(const std::vector<std::string>& arguments);

// The clients that a server without key arguments accepts: everybody, or holders of the keys it finds or generates.
enum class Access { open_to_all, by_keys };

class TestServer {
 public:
  // Unless the arguments say otherwise, the server listens on a free port of 127.0.0.1, accepts everybody without
  // encryption and serves 8 sessions at a time. `wrapper` is a command prefix that runs the server.
  explicit TestServer(std::vector<std::string> arguments = {}, const std::vector<std::string>& wrapper = {},
                      Access access = Access::open_to_all);
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  std::uint16_t port() const { return port_; }
  const std::string& first_line() const { return first_line_; }
  pid_t process() const { return process_; }
  // Sends the signal, waits for the server to end and returns its exit code as above.
  int stop(int signal);
  // Returns what it has written to standard error so far.
  std::string errors() const;

 private:
  pid_t process_ = -1;
  std::uint16_t port_ = 0;
  std::string first_line_;
  std::string error_file_;
};

// Returns the child processes of this process.
std::vector<pid_t> children_of(pid_t process);
// Whether a process runs no more, although its parent may not have noticed.
bool has_ended(pid_t process);
// Returns the children that run; waits up to 5 s until there are no more than `most`, because others end soon, such as
// the one that stored a module.
std::vector<pid_t> running_children_of(pid_t process, std::size_t most);
// Returns the only child, a session's process.
std::vector<pid_t> only_child_of(pid_t process);

}  // namespace ferry::test
