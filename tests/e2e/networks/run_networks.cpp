// run_networks [ARCH [DEVICE]]: compiles networks and runs them on two kept servers of an architecture (in an emulator
// unless it is this machine's), one with a single thread and one with two; these use the DEVICE ("opencl"), if it is
// given. For each line of the standard input, a folder and words separated by tabs, it runs FOLDER/net.onnx with
// FOLDER/in0.npy, in1.npy, ..., and writes out0.npy, ... beside them. The words:
//
//     again    the same module also runs with again/in0.npy, ... below the folder, whose sizes may be others, and
//              so on with the inputs in again/again
//     bind     inputs are bound to their contents, but for a first one of several floats
//     once     only the server with one thread is used
//     time     the fastest of several calls is told, not the first
//
// Prints one line for each: "fine NANOSECONDS", "refused TEXT" for what the importer or compiler does not support,
// "failed TEXT" for everything else that went wrong, or "differs TEXT" if two threads or a second call gave other
// bytes.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>
#include <sstream>

#include "base/printable.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/target/resolve.h"
#include "ferry/client.h"
#include "ferry/compile.h"
#include "host/client/npy/npy.h"
#include "host/compiler/llvm/llvm_compiler.h"
#include "module/module_file.h"
#include "tests/e2e/networks/cut_output.h"
#include "tests/paths.h"
#include "tests/support/architectures/architectures.h"
#include "tests/support/listening_server.h"

namespace {

namespace fs = std::filesystem;
using namespace ferry;
using Outputs = std::vector<npy::Array>;

struct Refused {
  std::string text;
};

struct Differs {
  std::string text;
};

std::vector<npy::Array> read_inputs(const fs::path& folder) {
  std::vector<npy::Array> inputs;
  for (fs::path file; fs::exists(file = folder / ("in" + std::to_string(inputs.size()) + ".npy"));)
    inputs.push_back(npy::read(file.string()));
  return inputs;
}

void write_outputs(const Outputs& outputs, const fs::path& folder) {
  for (std::size_t i = 0; i < outputs.size(); ++i)
    npy::write((folder / ("out" + std::to_string(i) + ".npy")).string(), outputs[i].dtype, outputs[i].shape,
               outputs[i].bytes);
}

// A server, and the session with it, which is opened anew after a kernel ended it.
class Machine {
 public:
  // Without a device, networks run on the server's CPU.
  Machine(const std::string& arch, std::string device, int threads)
      : device_name_(std::move(device)),
        // Static servers open no devices.
        server_(device_name_.empty() ? FERRY_SOURCE_DIR "/build/device/" + arch + "/static/rpc_server"
                                     : FERRY_SOURCE_DIR "/build/device/" + arch + "/dynamic/rpc_server",
                test::emulator_of(arch), {"--threads", std::to_string(threads), "--quiet"}),
        device_(open()) {}

  void reopen() {
    // The server serves the next session after the end of this one.
    device_.reset();
    device_ = open();
  }
  Target target() const { return device_name_.empty() ? target_of(*device_) : resolve_target(device_name_); }

  Outputs call(const CompiledModule& module, const std::vector<npy::Array>& inputs) const {
    std::vector<Argument> arguments;
    for (const npy::Array& input : inputs) arguments.emplace_back(View{input.dtype, input.shape, input.bytes.data()});
    const Function function = device_->load(module)[module.functions().front()];
    Outputs outputs;
    for (const DeviceTensor& tensor : function.call(arguments)) {
      npy::Array& array = outputs.emplace_back(npy::Array{tensor.dtype(), tensor.shape(), {}});
      array.bytes.resize(tensor.bytes());
      tensor.read(array.bytes.data());
    }
    cut(module, inputs.size(), outputs);
    nanoseconds_ = function.last_elapsed_ns();
    return outputs;
  }

  std::uint64_t nanoseconds() const { return nanoseconds_; }

 private:
  // Cuts outputs whose sizes depend on data, and removes their shapes, which are the last outputs.
  static void cut(const CompiledModule& module, std::size_t inputs, Outputs& outputs) {
    const std::vector<CountedOutput> counted =
        value_or_throw(counted_outputs(value_or_throw(read_module(module.bytes()))));
    for (const CountedOutput& one : counted)
      test::cut_output(outputs.at(one.output - inputs), outputs.at(one.shape - inputs));
    outputs.resize(outputs.size() - counted.size());
  }

  Device open() const {
    ConnectOptions options;
    if (!device_name_.empty()) options.devices = {device_name_};
    return connect(server_.address(), options);
  }

  std::string device_name_;
  test::ListeningServer server_;
  std::optional<Device> device_;
  mutable std::uint64_t nanoseconds_ = 0;
};

// A network and the inputs of its calls.
struct Case {
  CompiledModule module;
  std::vector<std::size_t> passed;  // inputs that calls take, by their numbers among the files
};

bool is_bound(std::size_t number, const npy::Array& input) {
  return number > 0 || !is_float(input.dtype) || input.bytes.size() == dtype_bytes(input.dtype);
}

Case compile(const Compiler& compiler, const Target& target, const fs::path& folder, bool binds) {
  const std::vector<npy::Array> inputs = read_inputs(folder);
  NetworkSource source{(folder / "net.onnx").string()};
  std::vector<std::size_t> passed;
  try {
    const NetworkSummary summary = compiler.inspect(source);
    if (inputs.size() != summary.inputs.size()) throw UsageError("expected a file for each input");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (binds && is_bound(i, inputs[i]))
        source.bindings[summary.inputs[i].name] = {inputs[i].dtype, inputs[i].shape, inputs[i].bytes};
      else
        passed.push_back(i);
    }
    const std::shared_ptr<const Network> network = compiler.read(source);
    Compiled compiled = network->compile({.target = target});
    return {CompiledModule(std::move(compiled.module), compiled.blobs), std::move(passed)};
  } catch (const Error& error) {
    throw Refused{error.what()};
  }
}

std::vector<npy::Array> arguments_of(const Case& one, const fs::path& folder) {
  std::vector<npy::Array> inputs = read_inputs(folder), arguments;
  for (const std::size_t i : one.passed) arguments.push_back(std::move(inputs.at(i)));
  return arguments;
}

void expect_same(const Outputs& first, const Outputs& second, const std::string& what) {
  for (std::size_t i = 0; i < first.size(); ++i)
    if (first[i].bytes != second.at(i).bytes) throw Differs{what + " in output " + std::to_string(i)};
}

class Runner {
 public:
  Runner(const std::string& arch, const std::string& device)
      : alone_(arch, device, 1), pair_(arch, device, 2), target_(alone_.target()) {}

  std::string run(const fs::path& folder, const std::vector<std::string>& words) {
    const auto has = [&](const char* word) { return std::ranges::find(words, word) != words.end(); };
    try {
      const Case one = compile(*compiler_, target_, folder, has("bind"));
      const Outputs first = run_inputs(one, folder, has("once"));
      std::uint64_t nanoseconds = alone_.nanoseconds();
      for (int i = 0; has("time") && i < 9; ++i) {
        alone_.call(one.module, arguments_of(one, folder));
        nanoseconds = std::min(nanoseconds, alone_.nanoseconds());
      }
      if (has("again")) {
        for (fs::path next = folder / "again"; fs::exists(next); next /= "again") run_inputs(one, next, has("once"));
        expect_same(alone_.call(one.module, arguments_of(one, folder)), first, "a call after others differs");
      }
      return "fine " + std::to_string(nanoseconds);
    } catch (const Refused& refused) {
      return "refused " + printable(refused.text);
    } catch (const Differs& differs) {
      return "differs " + differs.text;
    } catch (const std::exception& error) {
      alone_.reopen();
      pair_.reopen();
      return "failed " + printable(error.what());
    }
  }

 private:
  Outputs run_inputs(const Case& one, const fs::path& folder, bool once) {
    const std::vector<npy::Array> arguments = arguments_of(one, folder);
    Outputs outputs = alone_.call(one.module, arguments);
    write_outputs(outputs, folder);
    if (!once) expect_same(outputs, pair_.call(one.module, arguments), "two threads differ from one");
    return outputs;
  }

  const std::unique_ptr<const Compiler> compiler_ = make_compiler();
  Machine alone_, pair_;
  const Target target_;
};

}  // namespace

int main(int count, char** words) {
  if (count > 3) {
    std::fprintf(stderr, "usage: run_networks [ARCH [DEVICE]]\n");
    return 2;
  }
  Runner runner(count > 1 ? words[1] : "x86_64", count > 2 ? words[2] : "");
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream fields(line);
    std::vector<std::string> all;
    for (std::string field; std::getline(fields, field, '\t');) all.push_back(field);
    const std::string answer = runner.run(all.at(0), {all.begin() + 1, all.end()});
    std::printf("%s\n", answer.c_str());
    std::fflush(stdout);
  }
}
