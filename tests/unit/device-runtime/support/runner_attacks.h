// Kernels that attack the process in which they are measured: its system library, functions, loop, registers and
// memory.
#pragma once

namespace ferry::test {

// Text in C, which follows that of the other cheating kernels and uses their compute().
extern const char* const kRunnerAttacks;

}  // namespace ferry::test
