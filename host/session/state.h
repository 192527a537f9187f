// What the handles of ferry.h share.
#pragma once

#include <memory>
#include <string>

#include "host/session/client.h"
#include "host/session/ferry.h"
#include "host/session/local_server.h"

namespace ferry::detail {

struct DeviceState {
  std::unique_ptr<session::LocalServer> server;  // outlives the client
  std::unique_ptr<session::Client> client;
  std::string name;
};

struct TensorState {
  std::shared_ptr<DeviceState> device;
  rpc::Handle handle = 0;
  DType dtype = DType::f32;
  Shape shape;
  std::uint64_t bytes = 0;

  TensorState(std::shared_ptr<DeviceState> on, DType type, Shape dims);
  ~TensorState();
  TensorState(const TensorState&) = delete;
  TensorState& operator=(const TensorState&) = delete;
};

struct ModuleState {
  std::shared_ptr<DeviceState> device;
  CompiledModule compiled;
  rpc::Handle handle = 0;
  session::Pending<rpc::PutModuleReply> query, upload;
  std::uint64_t last_elapsed_ns = 0;

  // Asks whether the server has the module, without waiting.
  ModuleState(std::shared_ptr<DeviceState> on, CompiledModule module);
  ~ModuleState();
  ModuleState(const ModuleState&) = delete;
  ModuleState& operator=(const ModuleState&) = delete;

  // The handle to call by, the module being on its way at least.
  rpc::Handle loaded();
};

// Into the parts of the handles that ferry.h keeps closed.
struct Access {
  static Device device(std::shared_ptr<DeviceState> state) { return Device(std::move(state)); }
  static rpc::Handle handle(const Tensor& tensor) { return tensor.state_->handle; }
};

// The number of bytes, or RemoteError when there is no such tensor.
std::uint64_t tensor_bytes(DType dtype, const Shape& shape);

}  // namespace ferry::detail
