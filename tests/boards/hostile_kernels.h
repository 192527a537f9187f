// A module of kernels that attack the board they run on; their source is hostile_kernels.c.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::test {

// System calls that the probe kernel makes, in the order of its results.
enum class Probe : std::size_t {
  core_limit,  // the core dump size limit in bytes
  no_new_privileges,
  fork,
  socket,
  leave_group,
  signal_parent,
  raise_limit,
  ten_gigabytes,
  open_files,  // number of further descriptors that could be made
  make_file,
  own_threads,      // the limit on threads
  capabilities,     // effective and permitted capabilities
  shared_memory,    // memory without a file, which the memory limit does not count
  linger,           // setsockopt on a descriptor that is open
  change_mode,      // the folder above is changed
  be_inspectable,   // for others, by PR_SET_DUMPABLE
  own_descriptors,  // a thread with a table of descriptors of its own
  count
};

// Returns the module file for this architecture, built once. Functions:
//   say()                                 prints "fine"
//   overrun(i64 bytes, inout u8[n] A)     writes beyond the end of A
//   probe(out i64[n] results)             result of every Probe; -errno where a call failed
//   bomb(out i64[n] results)              allocates one MiB after another until that fails; how many, last error
//   threads(i64 count, out i64[n] results)    starts sleeping threads; how many started, last result
const std::vector<std::uint8_t>& hostile_file(const std::string& arch);

}  // namespace ferry::test
