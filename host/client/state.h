// The state shared by the handles of ferry/client.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ferry/client.h"
#include "host/client/blob_upload.h"
#include "host/client/client.h"
#include "host/client/connect/connector.h"
#include "host/client/shared_tensors.h"
#include "module/manifest.h"

namespace ferry::detail {

struct InstanceState;  // host/client/instances.h
struct ModuleState;

struct DeviceState {
  // They must outlive the client; null: the device needs none.
  std::shared_ptr<const session::Lease> lease;
  std::unique_ptr<session::SessionServer> server;
  std::shared_ptr<session::DirectSession> direct;  // null: the device is not in this process
  std::unique_ptr<session::Client> client;
  std::unique_ptr<session::SharedTensors> shared;  // null: the session has no memory that this process has mapped
  std::string name;
  std::string board_name;                   // see Device::board()
  std::vector<const ModuleState*> modules;  // the loaded modules

  // Returns the source line of an offset in one of them; empty if it is unknown.
  std::string locate(const Hash& module, std::uint64_t offset, const SourceLine& source_line) const;
};

struct TensorState {
  std::shared_ptr<DeviceState> device;
  std::shared_ptr<const TensorState> whole;  // for a view: the tensor that owns the memory
  rpc::Handle handle = 0;
  std::uint64_t offset = 0;  // bytes
  // Where the memory of a tensor that owns it is mapped in this process; nothing: it is not.
  std::optional<session::SharedTensors::Part> part;
  DType dtype = DType::f32;
  Shape shape, strides;
  std::uint64_t span = 0;  // bytes from the start of the first element to the end of the last
  // Number of writes to the memory, shared by its views.
  std::shared_ptr<std::uint64_t> version;

  // Allocates the span of the elements in the memory of one of the session's devices; by default, the one that tensors
  // are for. Unless they have `contents`, they are zero.
  TensorState(std::shared_ptr<DeviceState> on, DType type, Shape dims, Shape apart = {},
              std::optional<std::uint32_t> session_device = std::nullopt, const void* contents = nullptr);
  // Makes a tensor of memory of this process, which must outlive it; the device is in this process.
  TensorState(std::shared_ptr<DeviceState> on, const View& memory);
  // Makes a view.
  TensorState(std::shared_ptr<const TensorState> of, Shape dims, Shape apart, std::uint64_t from_byte);
  ~TensorState();
  TensorState(const TensorState&) = delete;
  TensorState& operator=(const TensorState&) = delete;
};

// How a module comes to a server: if the server lacks it, or at once.
enum class Upload : std::uint8_t { if_missing, at_once };

struct ModuleState {
  std::shared_ptr<DeviceState> device;
  CompiledModule compiled;
  rpc::Handle handle = 0;
  BlobUpload blobs;
  session::Pending<rpc::PutModuleReply> query, upload;
  bool was_bound = false;
  std::uint64_t last_elapsed_ns = 0;
  std::vector<std::shared_ptr<InstanceState>> instances;  // most recently used last

  // Asks the server whether it has the module, or sends it, without waiting. A module with blobs is never sent at once.
  ModuleState(std::shared_ptr<DeviceState> on, CompiledModule module, Upload how = Upload::if_missing);
  ~ModuleState();
  ModuleState(const ModuleState&) = delete;
  ModuleState& operator=(const ModuleState&) = delete;

  // Returns the handle to call; the module has been sent at least.
  rpc::Handle loaded();
  // Sends the blobs that the server lacks for binding an instance of the function.
  void prepare_to_bind(const FunctionInfo& function);
  // Returns the session's device that has the memory of a tensor parameter.
  std::uint32_t session_device(const ParameterInfo& parameter) const;
  // Uploads an argument to where its parameter is.
  DeviceTensor put(const ParameterInfo& parameter, const View& data) const;
  // The same for a tensor that the data outlives: on a device in this process, what the function only reads is used
  // where it lies, if its code takes the alignment.
  DeviceTensor borrow_or_put(const ParameterInfo& parameter, const View& data) const;
};

// Gives access to private parts of the handles of ferry.h.
struct Access {
  static Device device(std::shared_ptr<DeviceState> state) { return Device(std::move(state)); }
  static bool is_empty(const DeviceTensor& tensor) { return tensor.state_ == nullptr; }
  static const TensorState& state(const DeviceTensor& tensor) { return *tensor.state_; }
  static std::shared_ptr<const TensorState> share(const DeviceTensor& tensor) { return tensor.state_; }
  static DeviceTensor make(std::shared_ptr<TensorState> state) { return DeviceTensor(std::move(state)); }
  static Function make(std::shared_ptr<ModuleState> module, std::size_t index) { return {std::move(module), index}; }
  static const std::shared_ptr<ModuleState>& module(const Function& function) { return function.module_; }
  static std::size_t index(const Function& function) { return function.index_; }
};

// Rejects a tensor without memory or of another device; `what` is the beginning of the message.
void check_device(const DeviceTensor& tensor, const DeviceState& device, const std::string& what);
// Returns the number of bytes; throws Error when there is no such tensor.
std::uint64_t tensor_bytes(DType dtype, const Shape& shape);
// Returns the number of bytes from the start of the first element to the end of the last.
std::uint64_t tensor_span(DType dtype, const Shape& shape, const Shape& strides);
// Returns where the tensor is in memory that the session and this process have mapped, after everything that was asked
// of the session before; null if it is elsewhere. Throws Error if its contents depend on a request that has failed.
std::uint8_t* shared_address(const TensorState& tensor);
// Transfer all bytes of the span, including those between the elements.
void write_span(const TensorState& tensor, const void* from);
void read_span(const TensorState& tensor, std::uint8_t* into);
// Number of bytes of one transfer request: large enough to make its overhead negligible, small enough to show progress
// and to notice a lost connection.
inline constexpr std::uint64_t kPieceBytes = 16u << 20;
// Calls visit(number, place) for each element in row-major order; place is the offset in elements from the first one.
template <class Visit>
void for_each_place(const Shape& shape, const Shape& strides, Visit visit) {
  const std::size_t elements = tensor_bytes(DType::u8, shape);
  Shape index(shape.size(), 0);
  for (std::size_t i = 0; i < elements; ++i) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < index.size(); ++d) place += index[d] * strides[d];
    visit(i, static_cast<std::size_t>(place));
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}
// Whether elements of this shape have the same addresses with both strides; empty strides are dense.
bool same_places(const Shape& shape, const Shape& a, const Shape& b);

}  // namespace ferry::detail
