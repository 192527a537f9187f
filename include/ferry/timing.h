// Options and raw results of a measurement, which the client and the device share. rpc/PROTOCOL.md (evaluate and
// time_steps) defines each field.
#pragma once

#include "ferry/secret_seed.h"
#include "ferry/types.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ferry {

struct BenchOptions {
  std::uint32_t number = 1;  // least number of calls in a sample; 0: as many as the device's clock requires
  std::uint32_t repeat = 10;
  double min_repeat_ms = 5;
  double warmup_ms = 5;
  std::uint32_t max_repeat = 0;           // if larger than repeat: samples are added until the tolerance is met
  double tolerance = 0;                   // relative, of the median
  double timeout_ms = 0;                  // no sample starts later than this; 0: no limit
  double cooldown_ms = 0;                 // pause before each sample
  bool cold = false;                      // empty the caches before each sample; then number 1, min_repeat_ms 0
  std::vector<std::uint32_t> cores = {};  // where threads may run; empty: anywhere
  std::uint32_t threads = 0;              // maximum in parallel loops; 0: as many as the device has
  std::vector<std::string> watch = {};    // small files of the device to read before and after
  // If it exists, the seed of the bytes that are written over parts of the outputs before each sample, to find out
  // whether it computes them; tensors that a call reads and writes get their contents back.
  SecretSeed poison = {};
  double poison_rtol = 0;  // by so much floats may differ between two samples
  bool isolated = false;   // run the calls in processes of their own, timed from outside, where the device can
  // With both of these: give each call inputs that it has not seen, and compare its results with those of another
  // process, where the device can.
  bool fresh_inputs = false;
  // Number of calls at the end of a request that are the first witnesses of the others, see TimedCall::witnesses.
  // measure_in_turns() sets it, and the handles of buffers that take the places of a call's tensors for its further
  // witnesses and its checks: of one of each call, then of the next one of each.
  std::uint32_t witnesses = 0;
  std::vector<std::uint64_t> witness_buffers = {}, check_buffers = {};
  // The same of checks of other sizes: for each parameter that is no constant, the bits of a number, or the handle of a
  // buffer and the tensor's shape.
  std::vector<std::uint64_t> check_calls = {};
};

// Options for timing the steps of a function; the fields are those of BenchOptions.
struct StepOptions {
  std::uint32_t repeat = 1;
  bool cold = false;
  std::vector<std::uint32_t> cores = {};
  std::uint32_t threads = 0;
};

// The samples of one call.
struct Samples {
  std::vector<double> seconds;  // time of a call, one entry for each sample
  std::uint64_t number = 0;     // calls in a sample
  std::uint64_t warmup_calls = 0;
  double first_s = 0;                   // time of the first of them, in a new process if isolated; 0: not measured
  double alone_s = 0;                   // least time of calls that are not timed together; 0: all are, or none is
  std::vector<std::uint32_t> switches;  // involuntary context switches in each sample
  std::vector<std::uint32_t> cores;     // core on which each sample ended
  // Per call, in user mode; NaN if the device did not count, with Linux's reason in counters_errno.
  double cycles = 0, instructions = 0, cache_misses = 0;
  // With BenchOptions::poison, of the places that were looked at after each sample:
  bool inspected = false;            // false: this server is too old to look
  std::uint64_t unwritten = 0;       // samples that left one as it was
  std::uint64_t changed = 0;         // or other values than the one before, with fresh inputs than the other process
  bool witnessed = false;            // TimedCall::witnesses[0] has the arguments of a timed call
  std::uint32_t sets = 0;            // sets of tensors that calls with fresh inputs take turns with; 0: there are none
  std::uint64_t more_witnessed = 0;  // bit i: TimedCall::witnesses[i + 1] has them too
  // Bit i: TimedCall::checks[i] has the outputs of its call; behind them are those of TimedCall::other_sizes.
  std::uint64_t checked = 0;
};

struct WatchedText {
  std::string path, before, after;
};

// How what is measured was kept away from what measures it.
enum class TimingIsolation : std::uint8_t {
  none = 0,    // it ran in the process that timed it
  notify = 1,  // in a process of its own, whose stops the system reported to the one that timed it
  pipe = 2,    // in a process of its own that told of its stops, and whose processor time was watched
  trace = 3,   // in a process of its own, whose stops the system reported to the process that started it
};

enum class TimingEnd : std::uint8_t { all_samples = 1, converged = 2, timeout = 3 };

// Facts that all calls of a measurement share.
struct TimingEnvironment {
  TimingEnd ended = TimingEnd::all_samples;
  double elapsed_s = 0;
  std::uint32_t threads = 0;
  std::uint64_t clock_resolution_ns = 0, clock_overhead_ns = 0;
  std::uint64_t wiped_bytes = 0;  // memory read to wipe caches in a cold measurement, where lines cannot be flushed
  std::uint32_t counters_errno = 0;
  std::uint64_t voluntary_switches = 0, involuntary_switches = 0;
  std::vector<WatchedText> watched;  // the watched files that exist
  TimingIsolation isolation = TimingIsolation::none;
  // Why there is none, if it was asked for; or what remains open although there is one.
  std::string not_isolated;
  bool fresh_inputs = false;  // each call had inputs of its own, and its results were compared
  bool small_pages = false;   // large tensors were in shared memory for which the system has no huge pages
};

// Several calls that were measured in turns.
struct Evaluation {
  std::vector<Samples> calls;
  TimingEnvironment environment;
};

enum class StepKind : std::uint8_t { call = 1, launch = 2, copy = 3, fill = 4 };

// A step of a call's plan, timed by the device's clock.
struct StepTime {
  std::string kernel;  // what a call or launch runs
  std::array<std::uint64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint64_t shared_bytes = 0;  // shared memory of a block; 0: the device does not report it
  std::uint32_t registers = 0;     // for each thread; 0: the device does not report it
  std::vector<double> seconds;     // one for each repetition
  StepKind kind = StepKind::launch;
  std::uint32_t device = 0;      // index in the module of the device that ran it; of a copy, of the one it copies to
  std::string device_name = {};  // empty: the module has one device
  // Of a network, as its module describes the step.
  std::string node = {};  // empty: the module does not say
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape = {};  // the result's
  double flops = 0;                      // operations; 0: unknown
  double bytes = 0;                      // read and written, each tensor counted once; 0: unknown
};

}  // namespace ferry
