#include "host/client/pending_calls.h"
#include "host/client/state.h"

namespace ferry {

const DeviceFacts& Device::facts() const { return state_->client->facts(); }

std::string Device::processor() const { return state_->client->processor(); }

const std::string& Device::name() const { return state_->name; }
const std::string& Device::board() const { return state_->board_name; }

Module Device::load(const CompiledModule& module) const {
  return Module(std::make_shared<detail::ModuleState>(state_, module));
}

DeviceTensor Device::empty(DType dtype, Shape shape) const {
  return DeviceTensor(std::make_shared<detail::TensorState>(state_, dtype, std::move(shape)));
}

DeviceTensor Device::filled(DType dtype, Shape shape, FillKind kind, std::uint64_t seed) const {
  DeviceTensor tensor = empty(dtype, std::move(shape));
  session::send_fill(tensor, kind, seed);
  return tensor;
}

DeviceTensor Device::put(const View& data) const {
  return DeviceTensor(
      std::make_shared<detail::TensorState>(state_, data.dtype, data.shape, data.strides, std::nullopt, data.data));
}

std::vector<std::string> Device::read_files(const std::vector<std::string>& paths) const {
  std::vector<std::string> texts = state_->client->call(rpc::ReadFiles{paths}).texts;
  if (texts.size() == paths.size()) return texts;
  throw Error(ErrorCode::protocol_error,
              name() + ": expected " + std::to_string(paths.size()) + " files, got " + std::to_string(texts.size()));
}

void Device::synchronize() const { state_->client->synchronize(); }

}  // namespace ferry
