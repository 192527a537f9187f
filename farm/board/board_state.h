// The facts that a board tells its farm about itself.
#pragma once

#include "farm/board/farm_options.h"
#include "farm/protocol/lease/lease_terms.h"
#include "ferry/device_facts.h"

namespace ferry::device {

lease::BootTime boot_now();

// Another number after each start of this system, and the same for all boards that run on it; 0: unknown. `root` is
// prepended to the path, for tests.
std::uint64_t read_boot_id(const std::string& root = {});

// Strings and lists are cut to the limits of the protocol.
farm::wire::Description describe_board(const DeviceFacts& facts, const FarmOptions& options);

// Temperature, throttling and load at this moment. `root` is prepended to the paths, for tests.
farm::wire::Heartbeat read_heartbeat(const std::string& root = {});

}  // namespace ferry::device
