#include "host/compiler/llvm/host_kernel.h"

#include "crosscompile/target/resolve.h"
#include "ferry/client.h"
#include "host/client/connect_to.h"
#include "host/in_process/in_process_connector.h"

namespace ferry {

namespace {

Device this_process() {
  const session::Scheme scheme = session::in_process_scheme();
  session::Remote remote;
  remote.text = remote.address = std::string(scheme.prefix);
  return session::connect_to(*scheme.connector(remote, {}), {});
}

Argument argument_of(const HostArgument& given) {
  if (given.number) return std::visit([](auto number) { return Argument(number); }, *given.number);
  return View{given.dtype, given.shape, given.data, given.strides};
}

}  // namespace

HostKernel host_kernel(const KernelCompiler& compiler, const Scheduled& scheduled) {
  const Target target = resolve_target("host");
  Compiled compiled = compiler.compile(CompileRequest{.scheduled = scheduled, .target = target});
  const CompiledModule module(std::move(compiled.module), std::move(compiled.blobs));
  const Function function = this_process().load(module)[scheduled.programs.front().name];
  return [function](std::span<const HostArgument> given) {
    std::vector<Argument> arguments;
    for (const HostArgument& argument : given) arguments.push_back(argument_of(argument));
    std::vector<std::vector<std::uint8_t>> outputs;
    for (const DeviceTensor& tensor : function.call(arguments)) {
      outputs.emplace_back(tensor.bytes());
      tensor.read(outputs.back().data());
    }
    return outputs;
  };
}

}  // namespace ferry
