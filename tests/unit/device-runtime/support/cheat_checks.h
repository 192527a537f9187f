// Measures kernels that cheat, and checks that none looks faster than it is. Each is measured in a session of its own,
// beside the honest kernel where its time or its results are compared.
#pragma once

#include <functional>
#include <memory>

#include "tests/unit/device-runtime/support/test_client.h"

namespace ferry::test {

using OpenClient = std::function<std::unique_ptr<TestClient>()>;

// How much is measured: all, or with fresh inputs alone, and nothing that only computes. The latter suits emulated
// boards, where each measurement takes a quarter of a second.
enum class Extent { whole, brief };

// Whether the server measures kernels in processes of their own; prints why it does not.
bool isolates(const OpenClient& open);

// Those that do anything but compute end their session. `after` is called after each, or once if the extent is brief.
void check_stopped_cheats(const OpenClient& open, Extent extent, const std::function<void()>& after);
// Unwritten or changed outputs are counted where calls do not do their work.
void check_seen_cheats(const OpenClient& open);
// Those that say that a window is over before the work is done are seen, stopped, or not listened to.
void check_early_cheats(const OpenClient& open, Extent extent);
// Those that run on are stopped, except where the system does not hold threads that have said that they stopped: there
// one of them goes unnoticed.
void check_lying_cheats(const OpenClient& open);
// Kept results are wrong for fresh inputs, or hardly ever of use.
void check_copying_cheats(const OpenClient& open);
// Their results are wrong in timed calls that are drawn, or in calls with other inputs between them.
void check_inexact_cheats(const OpenClient& open);
// Their results are wrong in calls of other sizes between the timed ones.
void check_size_cheats(const OpenClient& open);
// Those that change what looks like a time, or wait for inputs that they know, are as slow as they are.
void check_timed_cheats(const OpenClient& open, Extent extent);
// Those that break what calls them gain nothing by it.
void check_breaking_cheats(const OpenClient& open, Extent extent);
// Each call rounds as usual, whatever the one before has left, in a process of its own and in the session's.
void check_float_mode(const OpenClient& open);
// A kernel finds no secret and no tensors of others in its process, but finds them where it is not isolated.
void check_searched_memory(const OpenClient& open);
// Without isolation, those that leave calls without their work are seen, and results that are kept for the same inputs
// are not, as docs/measuring.md says.
void check_cheats_in_process(const OpenClient& open);

}  // namespace ferry::test
