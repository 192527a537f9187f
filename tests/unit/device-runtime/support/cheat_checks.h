// Measures kernels that cheat, and checks that none looks faster than it is. Each is measured in a session of its own,
// beside the honest kernel where its time or its results are compared.
#pragma once

#include <functional>
#include <memory>

#include "tests/unit/device-runtime/support/test_client.h"

namespace ferry::test {

using OpenClient = std::function<std::unique_ptr<TestClient>()>;

// Whether the server measures kernels in processes of their own; prints why it does not.
bool isolates(const OpenClient& open);

// Those that do anything but compute end their session, and `after` is called.
void check_stopped_cheats(const OpenClient& open, const std::function<void()>& after);
// Unwritten or changed outputs are counted where calls do not do their work.
void check_seen_cheats(const OpenClient& open);
// Those that say that a window is over before the work is done are seen, stopped, or not listened to.
void check_early_cheats(const OpenClient& open);
// Those that run on are stopped, except where the system does not hold threads that have said that they stopped: there
// one of them goes unnoticed.
void check_lying_cheats(const OpenClient& open);
// Kept results are wrong for fresh inputs, or hardly ever of use.
void check_copying_cheats(const OpenClient& open);
// Those that change what looks like a time, or wait for inputs that they know, are as slow as they are.
void check_timed_cheats(const OpenClient& open);

}  // namespace ferry::test
