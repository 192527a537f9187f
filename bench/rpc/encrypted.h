// Measures the cost of encryption: calls, transfers and setting up a session.
#pragma once

#include <string>

#include "bench/rpc/report.h"

namespace ferry::bench {

// Both ends run on the caller's CPU.
void encrypted_calls(const std::string& server_program, Report& report);
void encrypted_bandwidth(const std::string& server_program, Report& report);

}  // namespace ferry::bench
