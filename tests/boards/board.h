// The board that all tests of this program share, and clients of its servers.
#pragma once

#include "tests/boards/guest.h"
#include "tests/unit/device-runtime/support/test_client.h"

namespace ferry::test {

// The servers themselves guarantee that no session affects the next. Null if there is no kernel to boot.
const Guest* board();

// Slow checks are left to the long tests, or run on only one of the three servers.
bool is_brief();
// The same, and says so.
bool is_left_to_long_tests();

TestClient client_of(const Guest& guest, Setting setting, std::uint64_t call_ms = 0);

// Checks that the next session takes at most a second, or three times as long as the first session took if the host is
// slower than that.
void check_next_session(const Guest& guest, Setting setting);

// Checks that no server has ended, whatever its sessions did.
void check_servers_live(const Guest& guest);

}  // namespace ferry::test
