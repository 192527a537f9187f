// The client: what was compiled runs on another machine, or on this one.
//
//     auto device = ferry::connect("127.0.0.1:9090");
//     auto mm = device.load(ferry::CompiledModule(bytes))["mm"];
//     auto C = mm(A, B);                        // spans, views with a shape, or tensors of the device
//     std::cout << mm.bench(A, B).median();     // seconds
//
// Objects are handles: cheap to copy, and copies share the same state. A device and everything that belongs to it may
// be used by only one thread at a time. Everything here throws Error, whose code tells the caller how to react;
// ConnectionLost when the session is gone.
#pragma once

#include "ferry/api.h"
#include "ferry/blob_source.h"
#include "ferry/connect_options.h"
#include "ferry/device_facts.h"
#include "ferry/error.h"
#include "ferry/fill.h"
#include "ferry/hash.h"
#include "ferry/timing.h"
#include "ferry/types.h"

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace ferry {

struct FunctionInfo;     // internal
struct Manifest;         // internal
struct StepDescription;  // internal

namespace detail {
struct Access;
struct DeviceState;
struct TensorState;
struct ModuleState;
}  // namespace detail

using Shape = std::vector<std::int64_t>;

// The element type that stores a C++ type.
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

// Borrowed memory of this process: dense and row-major, or with the given strides between the elements of each
// dimension (in elements, at least 0). It must stay alive for the call it is passed to.
struct View {
  DType dtype = DType::f32;
  Shape shape;
  const void* data = nullptr;
  Shape strides = {};
};
namespace detail {
// Throws Error with invalid_argument unless a dense tensor of this shape has this many elements.
FERRY_API void expect_elements(DType dtype, const Shape& shape, std::size_t elements);
}  // namespace detail
// A view of all elements in row-major order.
template <class T>
View view(std::span<const T> elements, Shape shape) {
  detail::expect_elements(dtype_of<T>(), shape, elements.size());
  return {dtype_of<T>(), std::move(shape), elements.data()};
}
template <class T>
View view(const std::vector<T>& elements, Shape shape) {
  return view(std::span<const T>(elements), std::move(shape));
}

// One compiled module in memory. Its blobs (weights) are read when a device lacks them.
class FERRY_API CompiledModule {
 public:
  // Checks the bytes of a .ferry file, with the blobs after the module or without: Error with invalid_argument says
  // what is wrong and where. Blobs that do not follow come from `blobs`.
  explicit CompiledModule(std::vector<std::uint8_t> bytes, std::shared_ptr<const BlobSource> blobs = nullptr);
  // Reads a .ferry file, except for the contents of its blobs.
  static CompiledModule open(const std::string& file);
  // Writes a .ferry file, with the contents of all blobs if they are known. Throws UsageError.
  void save(const std::string& file) const;

  const std::vector<std::uint8_t>& bytes() const;  // the module's, without its blobs
  const Hash& hash() const;                        // hash of the bytes
  const BlobSource* blobs() const;                 // null: nobody provides their contents
  const Manifest& manifest() const;
  // Names of the functions, in order.
  std::vector<std::string> functions() const;
  const std::string& source() const;
  // Returns the schedules of all functions, the default ones included, as a text that reproduces them.
  const std::string& schedule() const;
  // Returns what each step of a network's plan computes; none for other modules, or if the file does not say.
  const std::vector<StepDescription>& steps() const;

 private:
  struct State;
  explicit CompiledModule(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

class Device;

// Memory of a device, freed with the last copy of this object.
class FERRY_API DeviceTensor {
 public:
  DeviceTensor() = default;
  DType dtype() const;
  const Shape& shape() const;
  std::size_t elements() const;
  std::size_t bytes() const;  // size of the elements, without gaps between them
  // In elements, one for each dimension; empty: dense, row-major.
  const Shape& strides() const;

  // Returns a view of part of the same memory: from element `first` on (at a multiple of 64 bytes), with the given
  // strides in elements, or dense. Throws Error with invalid_argument when it is out of bounds.
  DeviceTensor view(Shape shape, Shape strides = {}, std::uint64_t first = 0) const;

  // Transfer the elements in row-major order. Only a dense tensor can be written.
  void write(const void* from);
  void read(void* into) const;
  // Copies into a tensor of the same dtype and shape, of this device or another, with any strides: elements between
  // those of the destination are unchanged. Dense tensors of one device are copied there, all others through this
  // process. Throws Error with invalid_argument when dtype or shape differ.
  void copy_to(const DeviceTensor& destination) const;
  // Copies into a new, dense tensor of that device.
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

// One argument of a call.
class FERRY_API Argument {
 public:
  struct Flat {  // the shape is inferred from the parameter
    DType dtype;
    std::size_t elements;
    const void* data;
  };
  // An integer is converted to int64 if it fits.
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

// The result of a measurement: raw samples, and everything that the device reports about its environment. Times are in
// seconds.
struct FERRY_API Timing : Samples, TimingEnvironment {
  double median() const;
  double minimum() const;
  // Returns the median absolute deviation from the median.
  double deviation() const;
};

class Instance;
struct TimedCall;

struct TimedOutputs {
  std::vector<DeviceTensor> outputs;
  std::vector<StepTime> steps;
};

// A function of a loaded module. Arguments are in the order of the parameters: either all but the outputs, which are
// then allocated, or all of them, with outputs as tensors of the device.
class FERRY_API Function {
 public:
  const FunctionInfo& info() const;
  // Returns a text such as "mm(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)".
  std::string signature() const;

  // Binds the constant parameters, in their order, to tensors of the device or views: what the function computes from
  // them alone (packed weights, for example) is computed now, without waiting for it, and kept on the device. A call
  // does the same when it is first given a set of constants.
  Instance bind(const std::vector<Argument>& constants) const;

  // Returns the output; with several outputs, use call().
  template <class... Arguments>
  DeviceTensor operator()(const Arguments&... arguments) const {
    return only_output(call({Argument(arguments)...}));
  }
  // Returns all arguments as the device has them, in the order of the parameters: views are uploaded, and outputs that
  // are missing allocated.
  std::vector<Argument> on_device(const std::vector<Argument>& arguments) const;
  // Returns outputs and inouts in the order of the parameters.
  std::vector<DeviceTensor> call(const std::vector<Argument>& arguments) const;

  template <class... Arguments>
  Timing bench(const Arguments&... arguments) const {
    return measure({Argument(arguments)...}, {});
  }
  // Like call(), repeated, with the time of each step of the function's plan.
  TimedOutputs call_timed(const std::vector<Argument>& arguments, const StepOptions& options = {}) const;
  Timing measure(const std::vector<Argument>& arguments, const BenchOptions& options) const;

  // Returns the time in nanoseconds that the last call() ran on the device.
  std::uint64_t last_elapsed_ns() const;

 private:
  friend class Instance;
  friend class Module;
  friend struct detail::Access;
  Function(std::shared_ptr<detail::ModuleState> module, std::size_t index);
  DeviceTensor only_output(std::vector<DeviceTensor> outputs) const;

  std::shared_ptr<detail::ModuleState> module_;
  std::size_t index_;
};

// A function with bound constants, which it keeps alive. Calls take the other arguments; the first one after a write to
// a constant binds again.
class FERRY_API Instance {
 public:
  const Function& function() const;
  // Returns the arguments of the function: its constants and these others.
  std::vector<Argument> with(const std::vector<Argument>& others) const;

  template <class... Arguments>
  DeviceTensor operator()(const Arguments&... arguments) const {
    return function().only_output(call({Argument(arguments)...}));
  }
  std::vector<DeviceTensor> call(const std::vector<Argument>& arguments) const {
    return function().call(with(arguments));
  }
  Timing measure(const std::vector<Argument>& arguments, const BenchOptions& options) const {
    return function().measure(with(arguments), options);
  }

 private:
  friend class Function;
  struct State;
  explicit Instance(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

// Samples several calls on one device in turns; one timing for each. The recorded environment is that of all
// together.
struct TimedCall {
  Function function;
  std::vector<Argument> arguments;
  // Tensors as those of `arguments`, of each call that is timed equally often. Where calls get new inputs
  // (Timing::fresh_inputs), those of a witness get the inputs and outputs of one of the timed calls, in secret the same
  // one of each function that is timed (Samples::witnessed, more_witnessed).
  std::vector<std::vector<Argument>> witnesses = {};
  // The same; but their inputs are those of a call between the timed ones, which is not timed itself, and whose outputs
  // they get (Samples::checked).
  std::vector<std::vector<Argument>> checks = {};
  // The same; but they have tensors and numbers of other sizes, and the constants of `arguments`.
  std::vector<std::vector<Argument>> other_sizes = {};
};
FERRY_API std::vector<Timing> measure_in_turns(const std::vector<TimedCall>& calls, const BenchOptions& options);

class FERRY_API Module {
 public:
  const Manifest& manifest() const;
  Function operator[](std::string_view name) const;
  // Waits until the device has the module. Otherwise the first call sends it and reports errors in it.
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
  // Returns the display name of the processor that runs kernels in this session: the CPU, or the requested GPU.
  std::string processor() const;
  // Returns "127.0.0.1:9090", or "this machine".
  const std::string& name() const;
  // Returns the board's own name: of a farm "lab/pi-3", however it was selected and is reached; otherwise name().
  const std::string& board() const;
  // The module is sent when it is first used, and only if the server does not have it.
  Module load(const CompiledModule& module) const;

  DeviceTensor empty(DType dtype, Shape shape) const;
  DeviceTensor filled(DType dtype, Shape shape, FillKind kind, std::uint64_t seed = 0) const;  // without upload
  DeviceTensor put(const View& data) const;

  // Returns the contents of small files that describe the device, below /proc/ or /sys/; empty for missing ones.
  std::vector<std::string> read_files(const std::vector<std::string>& paths) const;

  // Waits until the device has completed all requests; throws the first failure meanwhile.
  void synchronize() const;
  // Returns the state shared by the objects of this header, for tools of this library.
  const std::shared_ptr<detail::DeviceState>& state() const { return state_; }

 private:
  friend struct detail::Access;
  explicit Device(std::shared_ptr<detail::DeviceState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::DeviceState> state_;
};

// Returns one for each address, null for addresses that are not of farms. Boards of one farm are leased together, in
// this order, so the same address twice stands for two boards. `key_file` as in ConnectOptions. Throws Error.
FERRY_API std::vector<SharedBoard> share_boards(const std::vector<std::string>& addresses,
                                                const std::string& key_file = "");

// `address` is the name of a device in ~/.config/ferry/devices.toml, "HOST:PORT" (the default port is 9090),
// "ssh://USER@HOST" (a server is installed there and ends with the device), "farm://FARM/SELECTOR" (a board is leased
// from a farm, and given back with the device), "lease:FILE" of a lease that somebody else keeps, or, for a loopback
// address, "plaintext://HOST:PORT". Throws Error with unavailable within 5 s if there is no answer, with
// unauthenticated if the server does not know the key. Waiting for a board counts towards deadlines.queue.
FERRY_API Device connect(std::string_view address, const ConnectOptions& options = {});

// Starts a private server on this machine, which ends with the last object that uses it.
FERRY_API Device local_device(const ConnectOptions& options = {});

}  // namespace ferry
