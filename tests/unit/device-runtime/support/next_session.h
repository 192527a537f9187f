// Checks that the server serves the next client after a fault as if nothing had happened.
#pragma once

#include <functional>

#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {

// Returns the seconds for which other clients may wait at most while a fault is dealt with: 1, and more under an
// emulator or sanitizers.
double next_session_limit();

// Runs a whole session: gets a place, loads a module and runs a kernel.
void check_next_session(const TestServer& server);

// Runs a client in a separate process that is ended by SIGKILL when the function returns.
void killed_client(const std::function<void()>& client);

// Returns whether the server has no session left; waits up to 5 s.
bool sessions_end(const TestServer& server);

}  // namespace ferry::test
