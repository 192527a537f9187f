// Lists every message of the protocol, which PROTOCOL.md describes. Tags are never reused, and the order of fields
// never changes: a nested struct may get more fields at its end; a message that needs another field becomes a new
// message.
#pragma once

#include "ferry/device_facts.h"
#include "ferry/fill.h"
#include "ferry/hash.h"
#include "ferry/time_limit.h"
#include "ferry/timing.h"
#include "ferry/types.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::rpc {

inline constexpr std::uint32_t kProtocolVersionMin = 1;
inline constexpr std::uint32_t kProtocolVersionMax = 1;

// Properties of a message, by which both sides treat it.
enum MessageProperties : unsigned {
  kPlain = 0,
  kFirst = 1,       // may be the first request of a connection, and has no payload then
  kRunsKernel = 2,  // runs a kernel, which a client that lost its connection must not repeat by itself
  kLongAnswer = 4,  // its answer, or the output of kernels before it, may fill the buffers of a connection
  kWrites = 8,      // defines a handle or writes to a buffer: after a failure, later requests that use it are aborted
};

// Tag, request struct, response struct, name in PROTOCOL.md, properties.
#define FERRY_MESSAGES(X)                                                        \
  X(2, Ping, Empty, "ping", kPlain)                                              \
  X(3, PutModule, PutModuleReply, "put_module", kWrites)                         \
  X(4, ListModules, ListModulesReply, "list_modules", kLongAnswer)               \
  X(5, UnloadModule, Empty, "unload_module", kPlain)                             \
  X(6, Alloc, Empty, "alloc", kWrites)                                           \
  X(7, Free, Empty, "free", kPlain)                                              \
  X(8, Write, Empty, "write", kWrites)                                           \
  X(9, Read, Empty, "read", kLongAnswer)                                         \
  X(10, Fill, Empty, "fill", kWrites)                                            \
  X(11, Copy, Empty, "copy", kWrites)                                            \
  X(14, Facts, FactsReply, "facts", kPlain)                                      \
  X(15, Close, Empty, "close", kPlain)                                           \
  X(16, Open, OpenReply, "open", kFirst)                                         \
  X(17, GetStatus, StatusReply, "status", kFirst)                                \
  X(32, Evaluate, Evaluation, "evaluate", kRunsKernel | kLongAnswer | kWrites)   \
  X(33, ReadFiles, ReadFilesReply, "read_files", kLongAnswer)                    \
  X(34, TimeSteps, StepTimes, "time_steps", kRunsKernel | kLongAnswer | kWrites) \
  X(35, Bind, CallReply, "bind", kRunsKernel | kLongAnswer | kWrites)            \
  X(36, Call, CallReply, "call", kRunsKernel | kLongAnswer | kWrites)            \
  X(40, GuardMemory, Empty, "guard_memory", kPlain)                              \
  X(41, FindBlobs, FindBlobsReply, "find_blobs", kLongAnswer)                    \
  X(42, PutBlob, Empty, "put_blob", kWrites)                                     \
  X(43, Digest, DigestReply, "digest", kPlain)                                   \
  X(44, Compare, CompareReply, "compare", kPlain)                                \
  X(45, AllocShared, Empty, "alloc_shared", kWrites)

// Chosen by the client, never reused within a session, never 0.
using Handle = std::uint64_t;

struct Empty {};

// Time limits in milliseconds. 0 means no limit; in a request it asks for the server's own limit.
struct TimeLimits {
  std::uint64_t call_ms = 0;     // the limit of one call or measurement
  std::uint64_t session_ms = 0;  // from the start of the session's process; time in the queue does not count
  std::uint64_t idle_ms = 0;     // time during which nothing runs and nothing is transferred between client and server
};

// In Open: makes the server look for devices if it has not done so yet; the session uses none of them.
inline constexpr const char* kAnyDevice = "any";

// Opens a session.
struct Open {
  std::uint32_t version_min = kProtocolVersionMin;
  std::uint32_t version_max = kProtocolVersionMax;
  std::string client;                // "ferry 0.1.0 user@laptop", for logs and for the clients in the queue
  std::vector<std::string> devices;  // kinds such as "cuda"; the CPU need not be listed
  TimeLimits limits;                 // requested; the server's maxima apply in any case
  bool wait_for_debugger = false;    // before the first call runs
};
struct OpenReply {
  std::uint32_t version = 0;
  DeviceFacts facts;
  TimeLimits limits;  // the limits in effect
  std::uint64_t process = 0;
};

// Sent instead of an open to ask what the server is doing. The server answers at once, even while sessions run, and
// then closes the connection.
struct GetStatus {};
// A client that has a session or waits for one.
struct ClientListing {
  std::uint64_t number = 0;  // number of the session; 0 while waiting
  std::string client;
  std::string peer;
  std::uint64_t since_ms = 0;    // time since the session started, or since the wait began
  std::string function;          // the function that is running; empty: none
  std::uint64_t running_ms = 0;  // how long it has been running
};
struct StatusReply {
  std::string server_version;
  std::string device;  // description for people
  std::uint64_t uptime_ms = 0;
  std::uint32_t max_sessions = 0;
  std::uint32_t max_waiting = 0;
  std::uint64_t sessions_ended = 0;
  std::uint64_t sessions_failed = 0;  // how many of those crashed, exceeded a limit or vanished
  std::vector<ClientListing> sessions;
  std::vector<ClientListing> waiting;  // in queue order, the next one first
};

struct Ping {};

// Makes `module` refer to the .ferry file with this hash. Without a payload, the request asks whether the server
// already has the file (`present`) and uses it if so. With the file as its payload, the file is stored and loaded.
struct PutModule {
  Handle module = 0;
  Hash hash{};
};
struct PutModuleReply {
  bool present = false;  // the handle is usable
};

// Asks which of these blobs the server lacks. Those that it has stay until a module uses them.
struct FindBlobs {
  std::vector<Hash> blobs;
};
struct FindBlobsReply {
  std::vector<std::uint32_t> missing;  // positions in the request's list
};

// The payload holds the bytes of a blob from offset on. Its pieces arrive in order; the last one completes it.
struct PutBlob {
  Hash hash{};
  std::uint64_t bytes = 0;  // the whole blob's size
  std::uint64_t offset = 0;
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
  std::uint32_t device = 0;  // the session's: 0 is the CPU, 1 the first device that Open::devices names besides it
};
// Allocates a part of the memory object that the client shares with a server that it started itself.
inline constexpr std::uint64_t kSharedUnit = 64 << 10;
struct AllocShared {
  Handle buffer = 0;
  std::uint64_t bytes = 0;
  std::uint32_t unit = 0;  // the part begins at so many times kSharedUnit
};
struct Free {
  Handle handle = 0;  // a buffer or an instance
};
// Buffers allocated afterwards lie between guard areas, which reveal whether a kernel wrote outside them.
struct GuardMemory {};

// The payload holds the bytes to store at offset.
struct Write {
  Handle buffer = 0;
  std::uint64_t offset = 0;
};
// The response's payload holds the bytes.
struct Read {
  Handle buffer = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// Fills elements from the start of the buffer, as ferry/fill.h defines them.
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

// Asks for the hash of these bytes.
struct Digest {
  Handle buffer = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
struct DigestReply {
  Hash hash{};
};

// Compares the elements of two dense tensors, as module/element_difference.h defines it.
struct Compare {
  Handle a = 0;
  std::uint64_t a_offset = 0;
  Handle b = 0;
  std::uint64_t b_offset = 0;
  DType dtype = DType::f32;
  std::uint64_t elements = 0;
  double rtol = 0, atol = 0;
};
struct CompareReply {
  std::uint64_t different = 0;
  std::uint64_t first = 0;  // the first of them
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
  Handle instance = 0;              // for a function with an init plan
};
struct CallReply {
  std::uint64_t elapsed_ns = 0;
};

// Runs the function's init plan. `instance` then refers to the persistent buffers, which calls with the same constants
// read.
struct Bind {
  Handle instance = 0;
  Handle module = 0;
  std::string function;
  std::vector<Argument> constants;  // the arguments for the constant parameters, in the manifest's order
};

// Measures several calls in turns and reports the environment of the measurement. PROTOCOL.md defines each field.
struct Evaluate {
  std::vector<Call> calls;
  BenchOptions options;
};
using ferry::Evaluation;

// Runs the call `repeat` times and times each step of its plan separately.
struct TimeSteps {
  Call call;
  std::uint32_t repeat = 1;
  bool cold = false;
  std::vector<std::uint32_t> cores = {};  // as in BenchOptions
  std::uint32_t threads = 0;
};
struct StepTimes {
  std::uint64_t elapsed_ns = 0;  // how long the last call took, as in CallReply
  std::vector<StepTime> steps;
};

// Files of /proc and /sys, as text.
struct ReadFiles {
  std::vector<std::string> paths;
};
struct ReadFilesReply {
  std::vector<std::string> texts;  // one per path; empty where the file does not exist
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
  std::uint64_t failed_request = 0;  // with `aborted`: the request that caused the failure
};

enum class Tag : std::uint16_t {
#define FERRY_ENUM(tag, request, reply, text, properties) request = tag,
  FERRY_MESSAGES(FERRY_ENUM)
#undef FERRY_ENUM
};

// Frames that answer no request; the server may send them at any time.
enum class EventTag : std::uint16_t { progress = 2, log = 3, waiting = 4, crash = 5, limit = 6 };

// The server is full. Sent whenever the client's position in the queue or the holder changes. The answer to open
// follows when it is this client's turn.
struct WaitingEvent {
  std::uint32_t position = 0;
  std::string holder;           // the client that holds the device, as its own open named it
  std::uint64_t holder_ms = 0;  // how long it has held the device
};
// Precedes an answer of kernel_crashed or deadline_exceeded and carries what is known about the cause.
struct CrashEvent {
  std::uint64_t request = 0;
  std::string function;
  std::string signal;         // "SIGSEGV (bad memory access)"; empty: a deadline was exceeded
  std::uint64_t address = 0;  // the faulting address, or the address of the instruction
  Hash module{};              // the module in which the code stopped; zeros: in none
  std::uint64_t offset = 0;   // from the module's image address 0
  std::string printed;        // the end of what the kernel printed
};
// Precedes an answer of deadline_exceeded from a server that has ended the session at a time limit.
struct LimitEvent {
  std::uint64_t request = 0;  // 0: none was running
  TimeLimit limit = TimeLimit::call;
  std::uint64_t limit_ms = 0;
  std::uint64_t running_ms = 0;  // for how long the request had run whose kernel was running; 0: none was
};
// Progress of a long request.
struct ProgressEvent {
  std::uint64_t request = 0;
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // 0: unknown
};
// A line for the user of the client: output of a kernel, or a notice from the server.
struct LogEvent {
  std::uint64_t request = 0;  // 0: none
  std::string text;
};

}  // namespace ferry::rpc
