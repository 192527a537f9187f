// What a session tells its zygote and its runners, and what they answer. They are processes of one program, so the
// messages are plain structs. They believe the session, which could run any code itself; the session believes none of
// what a runner says once its module has run.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "device-runtime/device/shared_memory.h"
#include "device-runtime/loader/crash_record.h"
#include "device-runtime/measure/counters.h"
#include "ferry/hash.h"

namespace ferry::device {

enum class ZygoteOrder : std::uint8_t {
  start,  // start a runner; the answer comes with the session's end of its socket
  end,    // kill a runner if it has not ended; the answer has its wait status
  kill,   // the same, but the answer does not wait until it is gone
  trace,  // become the tracer of a runner that has one thread yet
  // For a runner that is traced:
  go_on,  // let a thread go on that has stopped; has no answer
  wait,   // let one go on if there is one; the answer comes when one stops, or with ESRCH when the runner ends
};

struct ZygoteRequest {
  ZygoteOrder order = ZygoteOrder::start;
  pid_t runner = 0;
  pid_t thread = 0;                // to go on; 0: none
  std::int32_t core = -1;          // `trace`: where zygote and runner take turns; -1: wherever the session may
  std::uint64_t memory_bytes = 0;  // for the code and workspaces of a runner to start
};

struct ZygoteReply {
  std::int32_t error = 0;  // a value of errno
  pid_t process = 0;       // the runner that was started, or the thread that has stopped
  std::int32_t wait_status = 0;
};

// One argument, persistent buffer or constant: a scalar's bits, or memory that begins somewhere in a part.
struct SharedOperand {
  SharedPart part;
  std::uint64_t offset = 0, bytes = 0;  // where the memory itself is
  std::uint64_t scalar_bits = 0;
  std::uint32_t is_scalar = 0, is_written = 0;
};

// Comes with a descriptor of the memory. The symbols (int64) and the arrays of SharedOperand stand at `lists`, one
// after the other.
struct RunnerTask {
  Hash module{};
  SharedPart file, lists, page;  // the module; what is listed below; the RunnerPage
  std::uint64_t file_bytes = 0;
  std::uint64_t mapped_bytes = 0;  // the memory up to there, from its beginning
  std::uint64_t function = 0;      // its index in the module
  std::uint32_t is_init = 0;       // its init plan, with one set of arguments
  // Lengths of the arrays; there is one of arguments for each set, and then one for each call of other sizes. Each of
  // these has symbols of its own, and all sets have the first ones.
  std::uint64_t symbols = 0, sets = 1, others = 0, arguments = 0, persistent = 0, constants = 0;
  std::uint64_t memory_bytes = 0;  // for code and workspaces
  std::uint32_t threads = 1;
  std::int32_t core = -1;  // where its first thread runs; -1: wherever the session may
};

// How a runner's threads stop (notify.h). A new runner says `listener`, or it asks for a tracer and is told the way,
// before it gets its task.
enum class StopWay : std::uint8_t { listener, tracer, sockets };

// The descriptors that come with it: the listener or the judge's two ends of sockets, then the counters.
struct RunnerReady {
  std::int32_t error_code = 0;  // the code of a Status
  char message[512] = {};       // ends with a zero
  std::uint32_t workers = 0;    // threads besides the first
  std::uint32_t counters = 0;
  CounterKind kinds[kCounterKinds] = {};
  std::int32_t counters_error = 0;

  void set_message(std::string_view text) {
    const std::size_t length = text.size() < sizeof message ? text.size() : sizeof message - 1;
    std::memcpy(message, text.data(), length);
    message[length] = 0;
  }
};

// Exit status of a runner that a signal ended, less the signal.
inline constexpr int kEndedBySignal = 128;

// Memory that both can write while the runner exists.
struct RunnerPage {
  static constexpr std::size_t kMostPrinted = 64 << 10;

  // From the session, before it opens a window.
  std::atomic<std::uint64_t> calls{0};
  // The first call takes this set, each further one the next. Of an init plan, the step to run.
  std::atomic<std::uint32_t> first_set{0};
  // 0: none. Otherwise, from 1 on, the call of other sizes that takes the place of the set `other_at`.
  std::atomic<std::uint32_t> other{0}, other_at{0};
  std::atomic<std::uint32_t> runs_threads{0};  // the other threads run too
  // From the runner, before its first thread stops.
  std::atomic<std::uint32_t> wants_threads{0};  // it needs the others, which have stopped; 0: the window is over
  std::atomic<std::int32_t> result{0};
  // From the runner.
  Crash crash;
  std::atomic<std::uint32_t> printed_bytes{0};
  char printed[kMostPrinted];
};

}  // namespace ferry::device
