// A system call of a test's kernel, without a C library.
#pragma once

namespace ferry::test {

// C for the beginning of a kernel's source: static long call(long number, long a, long b, long c, long d, long e, long
// f), which returns what the system does.
extern const char* const kSystemCall;

}  // namespace ferry::test
