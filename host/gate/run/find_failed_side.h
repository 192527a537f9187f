// Finds out whose kernel has failed in a process that ran both sides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ferry/kernel/observer.h"
#include "ferry/kernel/open_session.h"
#include "host/gate/run/measure_pair.h"
#include "host/gate/run/side_failed.h"

namespace ferry::gate {

// Runs each side alone, the current one first, up to this many times.
inline constexpr std::uint32_t kRunsAlone = 3;

// A process that ran both sides and in which a kernel failed.
struct FailedPair {
  std::uint32_t layout = 0;
  const bench::MemoryLayout& memory;
  const Error& error;
  // The side in whose code the process crashed, if that is known. The other one may be to blame, since it may have
  // overwritten memory.
  std::optional<Side> crashed_in;
};

// Runs each side alone where the pair had it. A side that fails then has failed; otherwise the place of the crash
// tells. The message says so if the side fails only sometimes. Throws Error for what is no failure of a kernel.
SideFailed find_failed_side(const OpenSession& open, const RunSettings& measured, const PerSide<MeasuredSide>& sides,
                            const FailedPair& failed, const Observer& observer);

// Calls each side alone after a session in which one of them may have hung (may_be_hang() in host/kernel). Returns the
// side that hangs, unless both do or none. Throws SideFailed for one that fails otherwise, and Error.
std::optional<SideFailed> find_hanging_side(const OpenSession& open, const RunSettings& measured,
                                            const PerSide<MeasuredSide>& sides, const Observer& observer);

}  // namespace ferry::gate
