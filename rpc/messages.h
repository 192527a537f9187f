// Every message of the protocol. PROTOCOL.md describes them for people; this is the one list in code. Tags and field
// order are never reused or changed: a new field goes to the end of a new message.
#pragma once

#include "rpc/abi/device_facts.h"
#include "rpc/abi/dtype.h"
#include "rpc/abi/fill.h"
#include "rpc/base/hash.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ferry::rpc {

inline constexpr std::uint32_t kProtocolVersionMin = 1;
inline constexpr std::uint32_t kProtocolVersionMax = 1;

// tag, request struct, response struct, name in text
#define FERRY_MESSAGES(X)                             \
  X(1, Hello, HelloReply, "hello")                    \
  X(2, Ping, Empty, "ping")                           \
  X(3, PutModule, PutModuleReply, "put_module")       \
  X(4, ListModules, ListModulesReply, "list_modules") \
  X(5, UnloadModule, Empty, "unload_module")          \
  X(6, Alloc, Empty, "alloc")                         \
  X(7, Free, Empty, "free")                           \
  X(8, Write, Empty, "write")                         \
  X(9, Read, Empty, "read")                           \
  X(10, Fill, Empty, "fill")                          \
  X(11, Copy, Empty, "copy")                          \
  X(12, Call, CallReply, "call")                      \
  X(13, Measure, MeasureReply, "measure")             \
  X(14, Facts, FactsReply, "facts")                   \
  X(15, Close, Empty, "close")                        \
  X(16, Open, OpenReply, "open")                      \
  X(17, GetStatus, StatusReply, "status")             \
  X(32, Evaluate, Evaluation, "evaluate")             \
  X(33, ReadFiles, ReadFilesReply, "read_files")      \
  X(34, TimeSteps, StepTimes, "time_steps")           \
  X(40, GuardMemory, Empty, "guard_memory")

// Chosen by the client, never reused within a session, never 0.
using Handle = std::uint64_t;

struct Empty {};

struct Hello {
  std::uint32_t version_min = kProtocolVersionMin;
  std::uint32_t version_max = kProtocolVersionMax;
  std::string client;  // "ferry 0.1.0 user@laptop", for logs and for those who wait
};
struct HelloReply {
  std::uint32_t version = 0;
  DeviceFacts facts;
};

// How long things may take, in milliseconds; 0: no limit, or in a request the server's own.
struct TimeLimits {
  std::uint64_t call_ms = 0;     // one call or measurement
  std::uint64_t session_ms = 0;  // from the start of the session's process; waiting for a place does not count
  std::uint64_t idle_ms = 0;     // during which nothing runs and nothing moves between client and server
};

// In Open: the server looks for devices if it has not yet, and the session uses none of them.
inline constexpr const char* kAnyDevice = "any";

// A hello that also says how long things may take and which devices the session will use. Opens a session.
struct Open {
  std::uint32_t version_min = kProtocolVersionMin;
  std::uint32_t version_max = kProtocolVersionMax;
  std::string client;
  std::vector<std::string> devices;  // kinds, "cuda"; the CPU need not be named
  TimeLimits limits;                 // the server's maxima hold in any case
  bool wait_for_debugger = false;    // before the first call
};
struct OpenReply {
  std::uint32_t version = 0;
  DeviceFacts facts;
  TimeLimits limits;  // those that hold
  std::uint64_t process = 0;
};

// Instead of a hello: what the server is doing. Answered at once, also while sessions run; then the server closes.
struct GetStatus {};
// Somebody who has a session, or waits for one.
struct ClientListing {
  std::uint64_t number = 0;  // of the session; 0 while waiting
  std::string client;
  std::string peer;
  std::uint64_t since_ms = 0;    // it has had the session, or has waited
  std::string function;          // that runs; empty: none does
  std::uint64_t running_ms = 0;  // the function
};
struct StatusReply {
  std::string server_version;
  std::string device;  // for people
  std::uint64_t uptime_ms = 0;
  std::uint32_t max_sessions = 0;
  std::uint32_t max_waiting = 0;
  std::uint64_t sessions_ended = 0;
  std::uint64_t sessions_failed = 0;  // of those: crashed, over a limit, or gone without a word
  std::vector<ClientListing> sessions;
  std::vector<ClientListing> waiting;  // the next first
};

struct Ping {};

// Makes `module` known by the hash of its .ferry file. Without a payload it asks whether the server has that file
// (present), and uses it if so; with the file as payload it is stored and loaded.
struct PutModule {
  Handle module = 0;
  Hash hash{};
};
struct PutModuleReply {
  bool present = false;  // the handle is usable
};

struct ListModules {};
struct ModuleListing {
  Handle module = 0;
  Hash hash{};
  std::uint64_t bytes = 0;
  std::vector<std::string> functions;
};
struct ListModulesReply {
  std::vector<ModuleListing> modules;
};

struct UnloadModule {
  Handle module = 0;
};

struct Alloc {
  Handle buffer = 0;
  std::uint64_t bytes = 0;
  std::uint32_t device = 0;  // index into DeviceFacts::devices
};
struct Free {
  Handle buffer = 0;
};
// Buffers that are made after it tell whether a kernel has left them.
struct GuardMemory {};

// The payload is the bytes to store at offset.
struct Write {
  Handle buffer = 0;
  std::uint64_t offset = 0;
};
// The answer's payload is the bytes.
struct Read {
  Handle buffer = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// Elements from the start of the buffer, as rpc/abi/fill.h defines them.
struct Fill {
  Handle buffer = 0;
  FillKind kind = FillKind::zeros;
  DType dtype = DType::f32;
  std::uint64_t elements = 0;
  std::uint64_t seed = 0;
};

struct Copy {
  Handle destination = 0;
  std::uint64_t destination_offset = 0;
  Handle source = 0;
  std::uint64_t source_offset = 0;
  std::uint64_t bytes = 0;
};

// One argument: a view of a buffer with a dtype and shape, or a scalar (buffer 0, no shape) whose value is in
// scalar_bits, little-endian in the low bytes.
struct Argument {
  Handle buffer = 0;
  std::uint64_t offset = 0;  // a multiple of 64
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  bool is_scalar = false;
  std::uint64_t scalar_bits = 0;
};

struct Call {
  Handle module = 0;
  std::string function;
  std::vector<Argument> arguments;  // in the manifest's parameter order
};
struct CallReply {
  std::uint64_t elapsed_ns = 0;
};

// Times the call. Each of `repeat` samples is the mean of at least `number` calls, more when a sample would otherwise
// be shorter than min_repeat_ms. Calls for at least warmup_ms come first and are not counted.
struct Measure {
  Call call;
  std::uint32_t number = 1;
  std::uint32_t repeat = 10;
  double min_repeat_ms = 0;
  double warmup_ms = 0;
};
struct MeasureReply {
  std::vector<double> seconds;  // a call, one entry a sample
  std::uint64_t number = 0;     // calls a sample, as it came out
  std::uint64_t warmup_calls = 0;
  std::uint32_t threads = 0;
};

// Times several calls in turns, and says under which circumstances. PROTOCOL.md has the meaning of each field.
struct Evaluate {
  std::vector<Call> calls;
  std::uint32_t number = 0;
  std::uint32_t repeat = 10;
  std::uint32_t max_repeat = 0;
  double min_repeat_ms = 0;
  double warmup_ms = 0;
  double cooldown_ms = 0;
  double timeout_ms = 0;
  double tolerance = 0;
  bool cold = false;
  std::vector<std::uint32_t> cores;
  std::uint32_t threads = 0;
  std::vector<std::string> watch;
};
struct Sample {
  double seconds = 0;  // a call
  std::uint32_t switches = 0;
  std::uint32_t core = 0;
};
// Of one of the calls.
struct SampleSet {
  std::vector<Sample> samples;
  std::uint64_t number = 0;
  std::uint64_t warmup_calls = 0;
  double cycles = 0;
  double instructions = 0;
  double cache_misses = 0;
};
struct WatchedFile {
  std::string path;
  std::string before;
  std::string after;
};
enum class EvaluationEnd : std::uint8_t { all_rounds = 1, converged = 2, timeout = 3 };
struct Evaluation {
  std::vector<SampleSet> sets;
  EvaluationEnd ended = EvaluationEnd::all_rounds;
  double elapsed_s = 0;
  std::uint32_t threads = 0;
  std::uint64_t clock_resolution_ns = 0;
  std::uint64_t clock_overhead_ns = 0;
  std::uint64_t wiped_bytes = 0;
  std::uint32_t counters_errno = 0;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  std::vector<WatchedFile> watched;
};

// Runs the call so many times, each launch of its plan timed by itself.
struct TimeSteps {
  Call call;
  std::uint32_t repeat = 1;
  bool cold = false;
};
// A launch, and what it took each time.
struct StepTiming {
  std::string kernel;
  std::array<std::uint64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint64_t shared_bytes = 0;  // a block; 0: not known
  std::uint32_t registers = 0;     // a thread; 0: not known
  std::vector<double> seconds;
};
struct StepTimes {
  std::uint64_t elapsed_ns = 0;  // of the last call, as in CallReply
  std::vector<StepTiming> steps;
};

// Files of /proc and /sys, as text.
struct ReadFiles {
  std::vector<std::string> paths;
};
struct ReadFilesReply {
  std::vector<std::string> texts;  // one a path; empty where there is none
};

struct Facts {};
struct FactsReply {
  DeviceFacts facts;
};

// The server answers, then ends the session.
struct Close {};

// The body of every response whose header carries an error.
struct Failure {
  std::string message;
  std::uint64_t failed_request = 0;  // with `aborted`: the request this one depended on
};

enum class Tag : std::uint16_t {
#define FERRY_ENUM(tag, request, reply, text) request = tag,
  FERRY_MESSAGES(FERRY_ENUM)
#undef FERRY_ENUM
};

// Frames that answer no request; the server may send them at any time.
enum class EventTag : std::uint16_t { queued = 1, progress = 2, log = 3, waiting = 4, crash = 5 };

// The server is full; sent when the place changes. The answer to hello follows when it is this client's turn.
struct QueuedEvent {
  std::uint32_t position = 0;  // 1: next
};
// The same for a client that sent `open`.
struct WaitingEvent {
  std::uint32_t position = 0;
  std::string holder;           // who has the device, in the words of its own hello
  std::uint64_t holder_ms = 0;  // for how long
};
// Ahead of the answer kernel_crashed or deadline_exceeded: what is known.
struct CrashEvent {
  std::uint64_t request = 0;
  std::string function;
  std::string signal;         // "SIGSEGV (bad memory access)"; empty: the time was up
  std::uint64_t address = 0;  // what the access meant, or where the instruction stands
  Hash module{};              // where the code stopped; zeros: in no module
  std::uint64_t offset = 0;   // from the module's image address 0
  std::string printed;        // the last of what the kernel printed
};
// How far a long request is.
struct ProgressEvent {
  std::uint64_t request = 0;
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // 0: unknown
};
// A line for the person at the client: what a kernel printed, or what the server has to say.
struct LogEvent {
  std::uint64_t request = 0;  // 0: none
  std::string text;
};

}  // namespace ferry::rpc
