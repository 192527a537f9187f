// After every fault the server must serve the next client as if nothing had been.
#pragma once

#include <functional>

#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {

// Seconds within which the next session must have done its work: 1, and more under an emulator or sanitizers.
double next_session_limit();

// A whole session: a place is free, a module loads, a kernel runs, all within that time.
void check_next_session(const TestServer& server);

// Runs a client in a process of its own, which ends by SIGKILL when the function returns.
void killed_client(const std::function<void()>& client);

// Whether the server has no session left; waits up to 5 s.
bool sessions_end(const TestServer& server);

}  // namespace ferry::test
