// What kernels do to a board, as a module: the source is hostile_kernels.c.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::test {

// System calls that a session makes, in the order of the results.
enum class Probe : std::size_t {
  core_limit,  // bytes that a core dump may have
  no_new_privileges,
  fork,
  socket,
  leave_group,
  signal_parent,
  raise_limit,
  ten_gigabytes,
  open_files,     // how many could be opened
  large_file,     // what ftruncate to beyond the limit says
  own_threads,    // the limit
  capabilities,   // effective and permitted
  shared_memory,  // of no file, which the limit of memory does not count
  count
};

// The file of the module for this architecture, made once. Functions:
//   say()                                 prints "fine"
//   overrun(i64 bytes, inout u8[n] A)     writes beyond the end of A
//   probe(out i64[n] results)             of every Probe; -errno where a call failed
//   bomb(out i64[n] results)              takes memory, a MiB at a time, until it gets none; how many
//   threads(i64 count, out i64[n] results)    starts threads that sleep; how many started, the last result
//   write_file(out i64[n] results)        fills a file until the system refuses; how many MiB, the last result
const std::vector<std::uint8_t>& hostile_file(const std::string& arch);

}  // namespace ferry::test
