// Runs a program on files that may come from anybody: a compiler, or what it has compiled. It gets limits, a deadline,
// no network, and only the files on a list, as far as this machine's kernel can enforce that.
//
//     const ProgramEnd end = run_confined({.words = {"clang-19", "-c", "k.c"},
//                                          .error_file = folder + "/errors",
//                                          .files = {.executable = system_folders(), .writable = {folder}}});
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "crosscompile/confine/landlock.h"

namespace ferry::confine {

struct ConfinedProgram {
  std::vector<std::string> words;
  // Instead of running a program: what the process computes, in a copy of this process, with its exit code as the
  // result. Only the calling thread exists there: nothing that other threads may hold locked may be used, other than
  // the heap. words[0] names it in messages.
  std::function<int()> work = {};
  std::vector<std::string> environment = {};  // the whole of it: "NAME=VALUE"
  std::string output_file = "/dev/null", error_file = "/dev/null";
  AllowedFiles files = {};
  bool reads_own_process = false;         // /proc/self, which sanitizers read
  double deadline = 60;                   // in seconds; its processor time is limited too
  std::uint64_t file_bytes = 1ull << 30;  // the size of one file
  std::uint64_t memory_bytes = 0;         // address space; 0: no limit
};

struct ProgramEnd {
  int code = 0;             // 128 + N when signal N ended it
  bool is_late = false;     // the deadline ended it, or the limit of its processor time
  bool is_missing = false;  // there is no such program
};

// Returns when the program and everything that it has started have ended; what is left of them is killed. They do not
// survive the calling thread either. Throws Error (unavailable) if it cannot be started, or a
// restriction that this kernel offers fails.
ProgramEnd run_confined(const ConfinedProgram& program);

// Returns which restrictions this kernel does not offer, in words for a person: "this kernel has no Landlock".
std::vector<std::string> missing_restrictions();

// Returns the folders that hold programs, libraries and headers of the system, and what a program reads to start.
std::vector<std::string> system_folders();

// Returns where PATH leads for the name of a program, without symbolic links; empty if there is none.
std::string find_program(const std::string& name);

}  // namespace ferry::confine
