#include <algorithm>
#include <cstdint>
#include <utility>

#include "host/client/state.h"
#include "module/module_file.h"
#include "module/unaligned_tensors.h"

namespace ferry {

namespace {

constexpr std::uintptr_t kTensorAlignment = 64;

}  // namespace

namespace detail {

ModuleState::ModuleState(std::shared_ptr<DeviceState> on, CompiledModule module, Upload how)
    : device(std::move(on)), compiled(std::move(module)), handle(device->client->new_handle()) {
  const rpc::PutModule request{handle, compiled.hash()};
  if (how == Upload::at_once && compiled.manifest().blobs.empty()) {
    upload = device->client->send(request, compiled.bytes());
  } else {
    blobs = BlobUpload(*device->client, compiled.manifest().blobs);
    query = device->client->send(request);
  }
  device->modules.push_back(this);
}

std::uint32_t ModuleState::session_device(const ParameterInfo& parameter) const {
  const std::vector<ModuleDevice>& devices = compiled.manifest().devices;
  if (devices.size() == 1) return device->client->memory_device();
  const std::string& kind = devices[parameter.device].kind;
  const auto is_alike = [&](const ModuleDevice& one) { return one.kind == kind; };
  const auto earlier = std::count_if(devices.begin(), devices.begin() + parameter.device, is_alike);
  // A session with too few devices refuses the module.
  return device->client->device_of_kind(kind, static_cast<std::size_t>(earlier)).value_or(0);
}

DeviceTensor ModuleState::borrow_or_put(const ParameterInfo& parameter, const View& data) const {
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(data.data) % kTensorAlignment == 0;
  if (device->direct != nullptr && parameter.direction == Direction::in && !parameter.is_constant &&
      (is_aligned || takes_unaligned_tensors(compiled.manifest().target)))
    return Access::make(std::make_shared<TensorState>(device, data));
  return put(parameter, data);
}

DeviceTensor ModuleState::put(const ParameterInfo& parameter, const View& data) const {
  return Access::make(std::make_shared<TensorState>(device, data.dtype, data.shape, data.strides,
                                                    session_device(parameter), data.data));
}

std::string DeviceState::locate(const Hash& module, std::uint64_t offset, const SourceLine& source_line) const {
  for (const ModuleState* each : modules) {
    const Result<ModuleFile> file = read_module(each->compiled.bytes());
    if (!file.is_ok()) continue;
    for (const CodeImage& image : file.value().images) {
      const bool is_it = image.kind == ImageKind::elf
                             ? each->compiled.hash() == module
                             : image.kind == ImageKind::elf_library && blake2b(image.bytes) == module;
      if (is_it) return source_line(image.bytes, offset);
    }
  }
  return {};
}

ModuleState::~ModuleState() {
  std::erase(device->modules, this);
  instances.clear();  // as unloading the module frees them
  if (!device->client->is_open()) return;
  try {
    // A module that was never called has not been sent if the server did not have it already.
    const bool is_there = !query.valid() || query.get().present;
    if (is_there) device->client->post(rpc::UnloadModule{handle});
  } catch (const Error&) {
    // The connection is lost, and the module with it.
  }
}

rpc::Handle ModuleState::loaded() {
  if (!query.valid()) return handle;
  if (!query.get().present) {
    blobs.send_missing(*device->client, compiled.blobs(), device->direct.get());
    upload = device->client->send(rpc::PutModule{handle, compiled.hash()}, compiled.bytes());
  }
  query = {};
  return handle;
}

void ModuleState::prepare_to_bind(const FunctionInfo& function) {
  loaded();
  // The server keeps what init plans read until the first instance is bound.
  if (std::exchange(was_bound, true)) {
    BlobUpload(*device->client, blobs_to_bind(compiled.manifest(), function))
        .send_missing(*device->client, compiled.blobs(), device->direct.get());
  }
}

}  // namespace detail

void Module::wait() const {
  state_->loaded();
  if (state_->upload.valid()) state_->upload.get();
}

const Manifest& Module::manifest() const { return state_->compiled.manifest(); }

Function Module::operator[](std::string_view name) const {
  const auto& functions = manifest().functions;
  std::string others;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].name == name) return Function(state_, i);
    others += (others.empty() ? "" : ", ") + functions[i].name;
  }
  throw Error(ErrorCode::not_found,
              "this module has no function '" + std::string(name) + "'; expected one of: " + others);
}

}  // namespace ferry
