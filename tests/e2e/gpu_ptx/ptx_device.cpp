#include "tests/e2e/gpu_ptx/ptx_device.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "crosscompile/codegen/cuda/cuda_files.h"
#include "crosscompile/compile.h"
#include "crosscompile/ir/expr.h"
#include "crosscompile/target/resolve.h"
#include "ferry/compile.h"
#include "ferry/lang/text.h"
#include "ferry/schedule/default_schedule.h"
#include "ferry/schedule/module_schedule.h"
#include "host/lower/constant_stages.h"
#include "host/lower/lower.h"
#include "tests/fuzz/cases/call.h"
#include "tests/paths.h"
#include "tests/support/ptxas.h"

namespace ferry::test {
namespace {

std::vector<std::string> environment(const std::vector<std::string>& settings) {
  std::vector<std::string> words = {"env", "LD_LIBRARY_PATH=" FERRY_BINARY_DIR "/fake_cuda", "FERRY_FAKE_CUDA_ARCH=80"};
  words.insert(words.end(), settings.begin(), settings.end());
  return words;
}

Target target_of(const std::string& text) {
  use_test_packages();
  return resolve_target(text);
}

std::vector<DeviceTensor> run(const Device& device, const GpuProgram& compiled, const fuzz::Call& call,
                              const std::map<std::string, std::int64_t>& sizes) {
  const Module module = device.load(CompiledModule(compiled.module));
  std::vector<ferry::Argument> arguments;
  for (const fuzz::Argument& argument : call.arguments()) {
    if (argument.direction == Direction::out) continue;
    if (argument.kind == ParameterKind::scalar)
      arguments.emplace_back(sizes.at(argument.name));
    else
      arguments.emplace_back(View{argument.type, argument.shape, argument.memory->data(), argument.strides});
  }
  return module[compiled.program.name].call(arguments);
}

std::string difference(const Device& device, const GpuProgram& compiled, const fuzz::Call& call,
                       const std::map<std::string, std::int64_t>& sizes) {
  const fuzz::Expectation expectation(compiled.program, call);
  std::vector<std::size_t> outputs;
  for (std::size_t p = 0; p < call.arguments().size(); ++p)
    if (call.arguments()[p].direction != Direction::in) outputs.push_back(p);
  const std::vector<DeviceTensor> results = run(device, compiled, call, sizes);
  if (results.size() != outputs.size()) return "other results than the program has";
  for (std::size_t r = 0; r < results.size(); ++r) {
    std::vector<std::uint8_t> bytes(results[r].bytes());
    results[r].read(bytes.data());
    if (std::string found = expectation.difference(outputs[r], bytes.data()); !found.empty()) return found;
  }
  return "";
}

std::string refused_alike(const Device& device, const GpuProgram& compiled, const fuzz::Call& call,
                          const std::map<std::string, std::int64_t>& sizes, const std::string& reason) {
  try {
    run(device, compiled, call, sizes).clear();
    device.synchronize();
  } catch (const Error& error) {
    const std::string common = reason.substr(0, reason.find(" at ["));
    return std::string(error.what()).find(common) != std::string::npos ? "" : error.what();
  }
  return "it runs although " + reason;
}

}  // namespace

bool has_nvrtc() {
  static const bool found = [] {
    use_test_packages();
    const std::string library = codegen::cuda::find_cuda_file(codegen::cuda::CudaFile::nvrtc);
    if (library.empty()) {
      MESSAGE("skipped: there is no NVRTC, so CUDA C does not become PTX (scripts/setup.sh installs it)");
      return false;
    }
    setenv("FERRY_REAL_NVRTC", library.c_str(), 1);
    setenv("FERRY_NVRTC", FERRY_BINARY_DIR "/fake_nvrtc/libptx_nvrtc.so", 1);
    return true;
  }();
  return found;
}

GpuProgram compiled_program(const std::string& source, const std::string& function, const std::string& schedule,
                            const std::string& target, const std::map<std::string, std::int64_t>& fixed) {
  const Target resolved = target_of(target);
  const std::vector<lang::Program> programs = lang::parse(source, "program.tc", false, {fixed.begin(), fixed.end()});
  const auto found = std::find_if(programs.begin(), programs.end(),
                                  [&](const lang::Program& one) { return function.empty() || one.name == function; });
  if (found == programs.end()) throw std::runtime_error("there is no function '" + function + "'");
  GpuProgram made;
  made.program = *found;
  std::vector<std::string> names;
  for (const lang::Program& program : programs) names.push_back(program.name);
  made.lowered =
      schedule.empty()
          ? lower::lower(made.program, autoschedule::default_schedule(made.program, resolved))
          : lower::lower(made.program, autoschedule::replay_module_schedule(std::span(&made.program, 1),
                                                                            ScheduleText{schedule}, resolved, names, {})
                                           .at(0));
  made.module = compile_module(lower::split_constants(made.lowered), resolved).bytes;
  return made;
}

PtxDevice::PtxDevice(const std::vector<std::string>& settings)
    : server_(FERRY_BINARY_DIR "/device-runtime/rpc_server", environment(settings), {"--quiet"}) {}

Device PtxDevice::connect() const {
  ConnectOptions options;
  options.devices = {"cuda"};
  return ferry::connect(server_.address(), options);
}

std::string PtxDevice::wrong(const GpuProgram& compiled, const std::map<std::string, std::int64_t>& sizes,
                             std::uint64_t seed) const {
  std::unique_ptr<fuzz::Call> call;
  try {
    call = std::make_unique<fuzz::Call>(compiled.lowered, sizes, seed);
  } catch (const std::runtime_error& error) {
    throw UnfitSizes(error.what());
  }
  try {
    return difference(connect(), compiled, *call, sizes);
  } catch (const CompileError& error) {
    // The reference evaluator refuses these inputs, for example because an index lies outside of a table: the GPU has
    // to refuse them with the same message.
    return refused_alike(connect(), compiled, *call, sizes, error.what());
  } catch (const Error& error) {
    return error.what();
  }
}

std::vector<std::string> size_names(const GpuProgram& compiled) {
  std::vector<std::string> names;
  for (const ir::Expr& symbol : compiled.lowered.symbols) names.push_back(symbol.as<ir::Var>()->name);
  return names;
}

}  // namespace ferry::test
