// Runs a module's function on the first CUDA GPU in this process, on random inputs, for tools that watch a process and
// cannot follow a session of rpc_server into its confinement: compute-sanitizer and ncu.
//
//   gpu_run MODULE.ferry [--fn NAME] [--size NAME=N,...] [--seed N] [--calls N]
//
// Sizes that are not named are 64. Integers are 0 to 7, so that they may be indices. Exits with 1 if a call fails.
#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/throw_status.h"
#include "device-runtime/cuda/cuda_device.h"
#include "device-runtime/plan/plan_call.h"
#include "ferry/fill.h"
#include "module/module_file.h"

namespace ferry::bench {
namespace {

using namespace device;

constexpr Drivers kDrivers = {[](const char* file) { return dlopen(file, RTLD_NOW | RTLD_LOCAL); }, dlsym};
constexpr std::int64_t kOtherSize = 64;

struct Options {
  std::string file, function;
  std::map<std::string, std::int64_t> sizes;
  std::uint64_t seed = 1;
  int calls = 1;
};

std::int64_t number_in(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    throw std::runtime_error("expected a number, got '" + text + "'");
  return value;
}

void read_sizes(const std::string& text, std::map<std::string, std::int64_t>& sizes) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size()), equals = text.find('=', begin);
    if (equals >= end) throw std::runtime_error("expected NAME=N, got '" + text.substr(begin, end - begin) + "'");
    sizes[text.substr(begin, equals - begin)] = number_in(text.substr(equals + 1, end - equals - 1));
    begin = end + 1;
  }
}

Options options_of(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (!word.starts_with("--")) {
      options.file = word;
      continue;
    }
    if (i + 1 == count) throw std::runtime_error("expected a value behind " + word);
    const std::string value = words[++i];
    if (word == "--fn") {
      options.function = value;
    } else if (word == "--size") {
      read_sizes(value, options.sizes);
    } else if (word == "--seed") {
      options.seed = static_cast<std::uint64_t>(number_in(value));
    } else if (word == "--calls") {
      options.calls = static_cast<int>(number_in(value));
    } else {
      throw std::runtime_error("expected --fn, --size, --seed or --calls, got " + word);
    }
  }
  if (options.file.empty()) throw std::runtime_error("expected a module");
  return options;
}

ModuleFile module_in(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + file);
  const std::vector<std::uint8_t> bytes((std::istreambuf_iterator<char>(stream)), {});
  return value_or_throw(read_module(bytes));
}

// Returns the bits of a scalar parameter: a size of this name, or a small number.
std::uint64_t scalar_bits(const ParameterInfo& parameter, const Options& options) {
  const auto size = options.sizes.find(parameter.name);
  const std::int64_t value = size != options.sizes.end() ? size->second : 3;
  if (parameter.dtype == DType::f32) {
    const auto number = static_cast<float>(value);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
  }
  if (parameter.dtype == DType::f64) {
    const auto number = static_cast<double>(value);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
  }
  return static_cast<std::uint64_t>(value);
}

void check(const Status& status) {
  if (!status.is_ok()) throw std::runtime_error(status.message());
}

void fill_tensor(CudaDevice& device, const ParameterInfo& parameter, std::uint64_t bytes, std::uint64_t seed,
                 void* memory) {
  std::vector<std::uint8_t> content(bytes);
  const std::uint64_t count = bytes / dtype_bytes(parameter.dtype);
  if (is_float(parameter.dtype)) {
    fill(FillKind::random, seed, parameter.dtype, 0, count, content.data());
  } else {
    for (std::uint64_t i = 0; i < count; ++i)
      content[i * dtype_bytes(parameter.dtype)] =
          static_cast<std::uint8_t>((i * 2654435761U + seed) >> 7 & (parameter.dtype == DType::boolean ? 1 : 7));
  }
  check(device.write(memory, 0, content));
}

int run(const Options& options) {
  const ModuleFile module = module_in(options.file);
  const std::vector<FunctionInfo>& all = module.manifest.functions;
  const auto found = std::find_if(all.begin(), all.end(), [&](const FunctionInfo& one) {
    return one.name == options.function || (options.function.empty() && all.size() == 1);
  });
  if (found == all.end()) throw std::runtime_error("expected --fn with a function of " + options.file);
  const FunctionInfo& function = *found;
  std::vector<std::int64_t> symbols;
  for (const std::string& name : function.symbols)
    symbols.push_back(options.sizes.contains(name) ? options.sizes.at(name) : kOtherSize);
  const std::vector<std::vector<std::int64_t>> shapes = value_or_throw(infer_shapes(function, symbols));
  const std::unique_ptr<CudaDevice> device = value_or_throw(CudaDevice::open(kDrivers, 0));
  std::vector<ArgumentShape> given;
  std::vector<DeviceArgument> arguments;
  for (std::size_t p = 0; p < function.parameters.size(); ++p) {
    const ParameterInfo& parameter = function.parameters[p];
    if (parameter.kind == ParameterKind::scalar) {
      const std::uint64_t bits = scalar_bits(parameter, options);
      given.push_back({ParameterKind::scalar, parameter.dtype, {}, static_cast<std::int64_t>(bits)});
      arguments.push_back({true, nullptr, bits});
      continue;
    }
    const std::uint64_t bytes = dense_bytes(parameter.dtype, shapes[p]).value();
    given.push_back({ParameterKind::tensor, parameter.dtype, shapes[p], 0});
    arguments.push_back({false, value_or_throw(device->allocate(bytes)), 0});
    if (parameter.direction != Direction::out && bytes > 0)
      fill_tensor(*device, parameter, bytes, options.seed + p, arguments.back().memory);
  }
  const BoundCall bound = value_or_throw(bind_call(function, given));
  const std::unique_ptr<Program> program = value_or_throw(device->load(module, {}));
  Device* const devices[] = {device.get()};
  const std::unique_ptr<PlanCall> call =
      value_or_throw(PlanCall::prepare(devices, *program, function, arguments, bound));
  for (int i = 0; i < options.calls; ++i) {
    const std::int32_t result = call->run();
    if (result == 0) continue;
    check(call->failure());
    throw std::runtime_error(function.name + " returned " + std::to_string(result));
  }
  printf("%s: fine on %s\n", function.name.c_str(), device->describe().name.c_str());
  for (std::size_t p = 0; p < arguments.size(); ++p)
    if (!arguments[p].is_scalar) device->release(arguments[p].memory, bound.tensor_bytes[p]);
  return 0;
}

}  // namespace
}  // namespace ferry::bench

int main(int count, char** words) {
  try {
    return ferry::bench::run(ferry::bench::options_of(count, words));
  } catch (const std::exception& error) {
    fprintf(stderr, "gpu_run: %s\n", error.what());
    return 1;
  }
}
