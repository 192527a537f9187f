#include "host/measure/call_tensors.h"

#include "module/manifest.h"

namespace ferry::bench {

const DeviceTensor* tensor_of(const Argument& argument) { return std::get_if<DeviceTensor>(&argument.value()); }

std::uint64_t dense_bytes(const std::vector<Argument>& arguments) {
  std::uint64_t bytes = 0;
  for (const Argument& argument : arguments) {
    const DeviceTensor* const tensor = tensor_of(argument);
    if (tensor == nullptr) continue;
    if (!tensor->strides().empty()) return 0;
    bytes += tensor->bytes();
  }
  return bytes;
}

std::vector<std::uint8_t> read_contents(const DeviceTensor& tensor) {
  std::vector<std::uint8_t> contents(tensor.bytes());
  tensor.read(contents.data());
  return contents;
}

verify::Outputs read_outputs(const FunctionInfo& info, const std::vector<Argument>& arguments) {
  verify::Outputs outputs(arguments.size());
  for (std::size_t p = 0; p < arguments.size(); ++p)
    if (info.parameters[p].direction != Direction::in) outputs[p] = read_contents(*tensor_of(arguments[p]));
  return outputs;
}

}  // namespace ferry::bench
