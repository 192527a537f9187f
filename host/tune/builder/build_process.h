// The processes in which a ProcessBuilder compiles: one that forks others, and these, which build.
//
// The first one is sent one end of a socket for each process that it is to fork. At the other end, a point is the
// number of bytes that follow as 4 bytes, and its values, each with a zero at its end. The answer is one of
// BuildAnswer, the number of bytes that follow as 8 bytes, and these. Numbers are in the machine's own order.
#pragma once

#include "base/descriptor.h"
#include "host/tune/builder/builder.h"

#include <cstddef>
#include <cstdint>

namespace ferry::tune {

struct BuildLimits {
  unsigned seconds = 20;  // processor time of a build; it is hung if it takes longer
};

// A module, or the reason why there is none; nothing follows `hung`.
enum class BuildAnswer : std::uint8_t { module = 1, refused = 2, hung = 3 };
inline constexpr std::size_t kAnswerHeadBytes = 1 + sizeof(std::uint64_t);
inline constexpr std::uint32_t kMostRequestBytes = 64 << 10;

// Forks processes as `sockets` asks for them until it is closed. The calling process must just have been forked.
[[noreturn]] void fork_builds(const Compile& compile, Descriptor sockets, const BuildLimits& limits);

// Has such a process forked. Returns the end of its socket; none, with the reason in errno, if that is not possible.
Descriptor ask_for_build_process(int forker);

}  // namespace ferry::tune
