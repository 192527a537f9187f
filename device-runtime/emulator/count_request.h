// How a program under qemu-user asks the plugin libferry_instructions.so for the number of instructions that its
// process has executed.
//
// A plugin sees system calls but cannot answer them. The program makes an eventfd and the call
//
//     perf_event_open(kCountRequest, eventfd, kCountRequest, -1, kCountRequest)
//
// whose flags no kernel accepts. The plugin adds the count to the eventfd, from which the program reads it. Without the
// plugin nothing is there to read.
#pragma once

#include <cstdint>

namespace ferry::device {

// Positive as a 32-bit argument, and a bit of the flags that Linux does not define.
inline constexpr std::uint32_t kCountRequest = 0x66650000;

}  // namespace ferry::device
