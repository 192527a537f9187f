#include "device-runtime/handlers/find_call.h"

#include "device-runtime/handlers/debugger.h"

namespace ferry::device {

Result<CheckedCall> find_call(SessionState& state, RequestContext& context, rpc::Handle module,
                              const std::string& function) {
  await_debugger(state, context);
  CheckedCall call;
  FERRY_ASSIGN(call.module, state.modules.find(context, module));
  const auto& functions = call.module->manifest.functions;
  for (; call.function < functions.size(); ++call.function) {
    if (functions[call.function].name == function) return call;
  }
  std::string known;
  for (const FunctionInfo& other : functions) known += (known.empty() ? "" : ", ") + other.name;
  return Status(ErrorCode::not_found,
                "there is no function '" + function.substr(0, kMaxNameBytes) + "'; the module has " + known);
}

Status find_instance(SessionState& state, RequestContext& context, const rpc::Call& request, CheckedCall& call) {
  const FunctionInfo& info = call.info();
  const auto refuse = [&info](const std::string& what) {
    return Status(ErrorCode::invalid_argument, info.name + ": expected " + what);
  };
  if (request.instance == 0) {
    return needs_instance(info) ? refuse("an instance, got none: bind its constants first") : Status();
  }
  FERRY_ASSIGN(call.instance, state.instances.find(context, request.instance));
  const Instance& instance = *call.instance;
  if (instance.module != call.module || instance.function != call.function) {
    return refuse("an instance of it, got one of " + instance.module->manifest.functions[instance.function].name);
  }
  for (std::size_t i = 0; i < request.arguments.size(); ++i) {
    if (!info.parameters[i].is_constant) continue;
    const rpc::Argument &bound = instance.arguments[i], &argument = request.arguments[i];
    if (argument.buffer == bound.buffer && argument.offset == bound.offset && argument.shape == bound.shape) continue;
    return refuse("the tensor that the instance was bound with for '" + info.parameters[i].name + "', got another");
  }
  return {};
}

}  // namespace ferry::device
