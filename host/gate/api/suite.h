// Suites: the cases of a project that must not become slower, and where they run (docs/gate.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ferry/bench/comparison.h"
#include "ferry/bench/sampling.h"
#include "ferry/kernel/call_options.h"
#include "ferry/kernel/kernel_options.h"
#include "ferry/verify/findings.h"

namespace ferry::gate {

// Bounds on the current side alone. A case beyond one of them fails, whatever the baseline does.
struct Limits {
  std::optional<double> seconds;        // the limit of one call
  std::optional<std::uint64_t> bytes;   // the limit of the module's code and data
  std::optional<double> share_of_peak;  // a part of the device's rate of multiply-adds: 0.5 is half of it
};

struct SuiteBoard {
  std::string name;         // as cases refer to it
  std::string remote;       // as --remote takes it
  std::uint32_t count = 1;  // how many of them share its cases, if the remote is one of a farm
};

struct SuiteCase {
  std::string name;
  std::string was = {};  // its earlier name, whose baseline and history are its own as well; empty: it had no other
  std::size_t line = 0;  // in the suite's file
  KernelOptions kernel;  // files as they can be opened: behind the suite's folder where the suite has relative ones
  CallOptions call;
  std::string target = {};        // empty: that of the board
  std::string records = {};       // a file of what tuning found, as kernel.file; empty: default schedules
  double tolerance = 0.02;        // a smaller change, as a share of the time, does not matter
  bool allow_difference = false;  // the two sides may compute different results
  bool thorough = false;          // check with adversarial inputs and other sizes too
  verify::DifferenceLimits results = {};
  Limits limits = {};
  bench::SamplingOptions sampling = bench::CompareOptions().sampling;
  std::vector<std::string> boards = {};  // names of the suite's; empty: all of them
  std::string missing_file = {};         // why one of its files cannot be used; empty: all can
};

enum class UnknownPolicy : std::uint8_t { fail, pass };
// What a run makes of cases that the baseline has and the suite has not.
enum class MissingPolicy : std::uint8_t { fail, allow };

struct Suite {
  std::string file;    // as the user named it
  std::string folder;  // where relative names of files in it begin
  std::string name;
  double error_level = 0.01;      // the probability of a false alarm anywhere in a run of the suite
  std::uint32_t most_pairs = 64;  // how many processes, for each case on each board
  UnknownPolicy unknown = UnknownPolicy::fail;
  std::vector<SuiteBoard> boards;  // empty: one must be named on the command line
  std::vector<SuiteCase> cases;
};

}  // namespace ferry::gate
