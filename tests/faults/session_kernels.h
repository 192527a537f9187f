// Kernels that misuse what their session shares with the server, or evade what it is watched by.
#pragma once

#include "tests/unit/device-runtime/support/test_client.h"

namespace ferry::test {

// The module for this machine. All functions have an i64 tensor R for their results as their last parameter:
//   linger(i64 seconds, R)           sets SO_LINGER on all sockets; R[0] counts them
//   read_pages(i64 bytes, i64 step, R)  maps so much memory for reading and reads a byte at every step; R[0] is the
//                                    result of mmap
//   open_counter(i64 process, i64 core, R)  opens a counter of the processor time of a process or core; R[0] is the
//                                    result, R[1] that of mapping a large buffer
//   map_deleted(i64 bytes, R)        makes a file of that size, which only a mapping of its first page holds then; R[0]
//                                    is the result of mmap, or of what failed before
//   grow_stack(i64 bytes, R)         makes a page of the stack that large elsewhere and writes to all of it; R[0] is
//   the
//                                    result of mremap
//   slow_clock(i64 factor, R)        x86-64: from now on the clock of this process runs slower by the factor, by its
//   own
//                                    code in place of the system's. R[0]: whether that worked
const Bytes& session_kernels();

// The call of a function of the module, uploaded as `module`.
rpc::Call session_kernel(TestClient& client, rpc::Handle module, const char* function,
                         const std::vector<std::int64_t>& arguments);
// Makes the call and returns what the function stored in R.
std::vector<std::int64_t> run_session_kernel(TestClient& client, rpc::Handle module, const char* function,
                                             const std::vector<std::int64_t>& arguments);

}  // namespace ferry::test
