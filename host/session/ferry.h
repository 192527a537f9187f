// Compile here, run there: the client and the compiler in one header.
//
//     auto device = ferry::connect("127.0.0.1:9090");
//     auto mm = device.load(ferry::compile(source, device.target()))["mm"];
//     auto C = mm(A, B);                        // spans, views with a shape, or tensors of the device
//     std::cout << mm.bench(A, B).median();     // seconds
//
// Objects are cheap to copy and share what they stand for. A device and all that belongs to it is for one thread at a
// time. Everything here throws RemoteError, or CompileError where a kernel is at fault.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "crosscompile/ir/error.h"
#include "crosscompile/target/target.h"
#include "host/schedule/schedule_text.h"
#include "host/session/api.h"
#include "host/session/timing.h"
#include "rpc/abi/device_facts.h"
#include "rpc/abi/dtype.h"
#include "rpc/abi/fill.h"
#include "rpc/abi/manifest.h"
#include "rpc/base/hash.h"
#include "rpc/base/status.h"

namespace ferry {

namespace lang {
struct Program;
}
namespace schedule {
class Schedule;
}
namespace detail {
struct Access;
struct DeviceState;
struct TensorState;
struct ModuleState;
}  // namespace detail

// What a device or the way to it refused. The code says what the caller may do about it.
class FERRY_API RemoteError : public std::runtime_error {
 public:
  RemoteError(ErrorCode code, const std::string& message, bool nothing_ran = false)
      : std::runtime_error(message), code_(code), nothing_ran_(nothing_ran) {}
  ErrorCode code() const { return code_; }
  // A session was lost before it was asked to run anything, so all of it may safely be done again.
  bool nothing_ran() const { return nothing_ran_; }

 private:
  ErrorCode code_;
  bool nothing_ran_;
};

using Shape = std::vector<std::int64_t>;

// The element type that a C++ type is stored as.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>)
    return DType::f32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::f64;
  else if constexpr (std::is_same_v<T, bool>)
    return DType::boolean;
  else {
    static_assert(std::is_integral_v<T>, "expected float, double, bool or an integer type");
    constexpr DType kSigned[] = {DType::i8, DType::i16, DType::i32, DType::i64};
    constexpr DType kUnsigned[] = {DType::u8, DType::u16, DType::u32, DType::u64};
    constexpr int kIndex = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<T> ? kSigned[kIndex] : kUnsigned[kIndex];
  }
}

// Borrowed memory of this process: dense, row-major, unless it says how many elements apart (at least 0) the elements
// of each dimension stand. Must stay alive for the call it is given to.
struct View {
  DType dtype = DType::f32;
  Shape shape;
  const void* data = nullptr;
  Shape strides = {};
};
namespace detail {
// RemoteError with invalid_argument unless a dense tensor of this shape has so many elements.
FERRY_API void expect_elements(DType dtype, const Shape& shape, std::size_t elements);
}  // namespace detail
// All elements, row by row.
template <class T>
View view(std::span<const T> elements, Shape shape) {
  detail::expect_elements(dtype_of<T>(), shape, elements.size());
  return {dtype_of<T>(), std::move(shape), elements.data()};
}
template <class T>
View view(const std::vector<T>& elements, Shape shape) {
  return view(std::span<const T>(elements), std::move(shape));
}

// ---- Compiling ----

// One .ferry file in memory.
class FERRY_API CompiledModule {
 public:
  // Checks them: RemoteError with invalid_argument says what is wrong where.
  explicit CompiledModule(std::vector<std::uint8_t> bytes);

  const std::vector<std::uint8_t>& bytes() const;
  const Hash& hash() const;  // of the bytes
  // As callers see it: without preparations, and without the parameters that those make.
  const Manifest& manifest() const;
  // Of the function with this index: what is computed of its constant arguments once (rpc/abi/MODULE.md), or null.
  const FunctionInfo* preparation(std::size_t function) const;
  const std::string& source() const;
  // How each function was computed: a text that gives the same schedules again, the default ones included.
  const std::string& schedule() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

// As a person writes it: "host", "raspberry-pi-4", "llvm -mtriple=... -mcpu=... -mattr=...".
FERRY_API Target target(std::string_view text);

// Every function of a text in the notation of docs/language.md; `file` is what messages call it.
FERRY_API CompiledModule compile(std::string_view source, const Target& target, std::string_view file = "kernel.tc");
// With schedules of the user's own (docs/schedules.md): functions without a section of the text get the default one.
FERRY_API CompiledModule compile(std::string_view source, const Target& target, const ScheduleText& schedule,
                                 std::string_view file = "kernel.tc");
// What host/lang built. `source` travels with the module, for people.
FERRY_API CompiledModule compile(const lang::Program& program, const Target& target, std::string source = {});
FERRY_API CompiledModule compile(std::span<const lang::Program> programs, const Target& target,
                                 std::string source = {});
FERRY_API CompiledModule compile(const lang::Program& program, const schedule::Schedule& schedule, const Target& target,
                                 std::string source = {});
// One schedule a program. code_padding moves the code by so many bytes, to measure it at other addresses.
FERRY_API CompiledModule compile(std::span<const lang::Program> programs, std::span<const schedule::Schedule> schedules,
                                 const Target& target, std::string source = {}, std::uint32_t code_padding = 0);

// ---- Running ----

class Device;

// Memory of a device, freed with the last copy of this object.
class FERRY_API DeviceTensor {
 public:
  DeviceTensor() = default;
  DType dtype() const;
  const Shape& shape() const;
  std::size_t elements() const;
  std::size_t bytes() const;  // of its elements, wherever they stand
  // In elements, one a dimension; empty: dense, row-major.
  const Shape& strides() const;

  // A part of the same memory: from element `first` on (a multiple of 64 bytes), with `strides` elements between those
  // of each dimension, or dense. RemoteError with invalid_argument when it does not lie inside.
  DeviceTensor view(Shape shape, Shape strides = {}, std::uint64_t first = 0) const;

  // The elements in row-major order. Only a dense tensor can be written.
  void write(const void* from);
  void read(void* into) const;
  // Into a tensor of the same dtype and shape, of this device or any other, with whatever strides: elements that stand
  // between those of the destination stay as they are. Dense tensors of one device are copied there, all others through
  // this process. RemoteError with invalid_argument when dtype or shape differ.
  void copy_to(const DeviceTensor& destination) const;
  // Into a new, dense tensor of that device.
  DeviceTensor copy_to(const Device& device) const;
  template <class T>
  std::vector<T> to_vector() const {
    expect_type(dtype_of<T>());
    std::vector<T> values(elements());
    read(values.data());
    return values;
  }

 private:
  friend struct detail::Access;
  friend class Device;
  explicit DeviceTensor(std::shared_ptr<detail::TensorState> state) : state_(std::move(state)) {}
  void expect_type(DType type) const;
  std::shared_ptr<detail::TensorState> state_;
};

// One argument of a call, from whatever there is.
class FERRY_API Argument {
 public:
  struct Flat {  // a shape is found from the parameter's
    DType dtype;
    std::size_t elements;
    const void* data;
  };
  // An integer is an int64 wherever that holds it.
  using Scalar = std::variant<std::int64_t, double, std::uint64_t>;

  Argument(DeviceTensor tensor) : value_(std::move(tensor)) {}
  Argument(View view) : value_(std::move(view)) {}
  template <class T>
  Argument(std::span<T> elements)
      : value_(Flat{dtype_of<std::remove_const_t<T>>(), elements.size(), elements.data()}) {}
  template <class T>
  Argument(const std::vector<T>& elements) : value_(Flat{dtype_of<T>(), elements.size(), elements.data()}) {}
  Argument(std::signed_integral auto scalar) : value_(Scalar(static_cast<std::int64_t>(scalar))) {}
  Argument(std::unsigned_integral auto scalar) : value_(whole(scalar)) {}
  Argument(std::floating_point auto scalar) : value_(Scalar(static_cast<double>(scalar))) {}

  const std::variant<DeviceTensor, View, Flat, Scalar>& value() const { return value_; }

 private:
  static Scalar whole(std::uint64_t value) {
    const auto narrow = static_cast<std::int64_t>(value);
    return narrow >= 0 ? Scalar(narrow) : Scalar(value);
  }

  std::variant<DeviceTensor, View, Flat, Scalar> value_;
};

struct TimedCall;

struct TimedOutputs {
  std::vector<DeviceTensor> outputs;
  std::vector<StepTime> steps;
};

// A function of a loaded module. Arguments come in the order of the parameters: all but the outputs, which are then
// made, or all of them, outputs as tensors of the device.
class FERRY_API Function {
 public:
  const FunctionInfo& info() const;
  // What is computed of its constant arguments once, or null.
  const FunctionInfo* preparation() const;

  // The output; with several, use call().
  template <class... Arguments>
  DeviceTensor operator()(const Arguments&... arguments) const {
    return only_output(call({Argument(arguments)...}));
  }
  // Outputs and inouts in the order of the parameters.
  std::vector<DeviceTensor> call(const std::vector<Argument>& arguments) const;

  template <class... Arguments>
  Timing bench(const Arguments&... arguments) const {
    return measure({Argument(arguments)...}, {});
  }
  // As call(), so many times, and on a GPU how long each kernel took; cold: after wiping its caches. Elsewhere, and
  // with an older server, nobody knows of steps.
  TimedOutputs call_timed(const std::vector<Argument>& arguments, std::uint32_t repeat = 1, bool cold = false) const;
  Timing measure(const std::vector<Argument>& arguments, const BenchOptions& options) const;

  // Nanoseconds that the last call() ran on the device.
  std::uint64_t last_elapsed_ns() const;

 private:
  friend class Module;
  friend FERRY_API std::vector<Timing> measure_in_turns(const std::vector<TimedCall>&, const BenchOptions&);
  Function(std::shared_ptr<detail::ModuleState> module, std::size_t index);
  DeviceTensor only_output(std::vector<DeviceTensor> outputs) const;

  std::shared_ptr<detail::ModuleState> module_;
  std::size_t index_;
};

// Samples of several calls on one device, in turns; one timing each. The circumstances are of all together.
struct TimedCall {
  Function function;
  std::vector<Argument> arguments;
};
FERRY_API std::vector<Timing> measure_in_turns(const std::vector<TimedCall>& calls, const BenchOptions& options);

class FERRY_API Module {
 public:
  const Manifest& manifest() const;
  Function operator[](std::string_view name) const;
  // Waits until the device has it. Without, the first call sends it, and is told what is wrong with it.
  void wait() const;

 private:
  friend class Device;
  explicit Module(std::shared_ptr<detail::ModuleState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::ModuleState> state_;
};

struct ConnectOptions;

class FERRY_API Device {
 public:
  const DeviceFacts& facts() const;
  // What runs kernels in this session, for people: the CPU's name, or that of the GPU that was asked for.
  std::string processor() const;
  // What to compile for.
  Target target() const;
  // "127.0.0.1:9090", or "this machine".
  const std::string& name() const;

  // Sent when it is first used, and only if the server does not have it.
  Module load(const CompiledModule& module) const;

  DeviceTensor empty(DType dtype, Shape shape) const;
  DeviceTensor filled(DType dtype, Shape shape, FillKind kind, std::uint64_t seed = 0) const;  // nothing is uploaded
  DeviceTensor put(const View& data) const;

  // Small files of the device that describe it, below /proc/ or /sys/; empty where there is none.
  std::vector<std::string> read_files(const std::vector<std::string>& paths) const;

  // Waits until the device has done all that it was asked to; throws what went wrong meanwhile.
  void synchronize() const;
  // The same state that the objects of this header share, for tools of this library.
  const std::shared_ptr<detail::DeviceState>& state() const { return state_; }

 private:
  friend struct detail::Access;
  friend FERRY_API Device connect(std::string_view, const ConnectOptions&);
  friend FERRY_API Device local_device(const ConnectOptions&);
  explicit Device(std::shared_ptr<detail::DeviceState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::DeviceState> state_;
};

// All places of a server are taken; somebody else is served first.
struct QueuePlace {
  std::uint32_t position = 0;  // 1: next
  std::string holder;          // who has the device
  double holder_seconds = 0;   // for how long
};

// Seconds; 0: the server's own limit. It may grant less. Waiting for a place counts for none but `queue`.
struct Deadlines {
  double call = 0;  // one call or measurement
  double session = 0;
  double idle = 0;   // nothing runs and nothing moves
  double queue = 0;  // until there is a place: then RemoteError with busy
};

struct ConnectOptions {
  // What a kernel printed or the server has to say; nothing: dropped.
  std::function<void(const std::string& line)> log;
  // Told again whenever it changes.
  std::function<void(const QueuePlace& place)> queued;
  Deadlines deadlines;
  // Devices beside the CPU that will be used: "opencl", or "opencl:1" for the second of its kind. Tensors are kept on
  // the first of them.
  std::vector<std::string> devices;
  bool wait_for_debugger = false;  // before the first call
  // Each tensor of the CPU lies between pages that nothing may touch, so that a kernel that leaves its tensors fails.
  bool guard_tensors = false;
  // The key to show; without it FERRY_KEY_FILE, devices.toml, and on this machine rpc_server's own.
  std::string key_file;
};

// The name of a device in ~/.config/ferry/devices.toml, "HOST:PORT" (without a port it is 9090), "ssh://USER@HOST" (a
// server is brought there and ends with the device), or, for a loopback address, "plaintext://HOST:PORT". RemoteError
// with unavailable within 5 s when nobody answers, unauthenticated when the server does not know the key.
FERRY_API Device connect(std::string_view address, const ConnectOptions& options = {});

// Somebody whom a server serves, or who waits for that.
struct ServerClient {
  std::uint64_t session = 0;  // its number; 0 while waiting
  std::string client;
  std::string peer;
  double seconds = 0;    // it has had the session, or has waited
  std::string function;  // that runs now, for running_seconds; or empty
  double running_seconds = 0;
};
struct ServerStatus {
  std::string address;
  std::string server_version;
  std::string device;
  double uptime_seconds = 0;
  std::uint32_t max_sessions = 0;
  std::uint32_t max_waiting = 0;
  std::uint64_t sessions_ended = 0;
  std::uint64_t sessions_failed = 0;
  std::vector<ServerClient> sessions;
  std::vector<ServerClient> waiting;  // the next first
};
// Answered at once, whoever has the device.
FERRY_API ServerStatus server_status(std::string_view address, const ConnectOptions& options = {});

// A server of our own on this machine, which ends with the last object that uses it.
FERRY_API Device local_device(const ConnectOptions& options = {});

}  // namespace ferry
