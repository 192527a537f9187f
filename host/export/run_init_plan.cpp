#include "host/export/run_init_plan.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "base/throw_status.h"
#include "crosscompile/ir/error.h"
#include "host/export/replace_init_plan.h"
#include "module/init_plan.h"
#include "module/module_file.h"

namespace ferry {

namespace {

// Calls init functions with a network's constants.
class InitPlan {
 public:
  InitPlan(const Manifest& manifest, const BlobSource* blobs, const Device& device)
      : manifest_(manifest),
        function_(manifest.functions.front()),
        blobs_(blobs),
        device_(device),
        values_(function_.symbols.size()) {
    for (const ManifestExpr& value : function_.init.values) values_.push_back(value_or_throw(evaluate(value, values_)));
    for (const PersistentBuffer& buffer : function_.persistent)
      contents_.emplace_back(static_cast<std::size_t>(values_.at(buffer.bytes)));
  }

  void load(const CompiledModule& init) {
    const Module loaded = device_.load(init);
    for (const std::string& name : init.functions()) functions_.emplace(name, loaded[name]);
  }

  // Returns the contents of the persistent buffers.
  std::vector<Contents> run() {
    for (const Step& step : function_.init.steps) run(expected_call(step));
    return std::move(contents_);
  }

 private:
  static const CallStep& expected_call(const Step& step) {
    const auto* call = std::get_if<CallStep>(&step);
    if (call == nullptr) throw InternalError("expected an init plan of calls");
    return *call;
  }

  // Returns what each parameter of a function stands for in a call of the network, null for those that the code does
  // not read: both calls pass the same operands to the same code.
  static std::vector<const Operand*> operands_of(const FunctionInfo& info, const CallStep& call) {
    const CallStep& own = expected_call(info.plan.steps.front());
    std::vector<const Operand*> operands(info.parameters.size(), nullptr);
    for (std::size_t i = 0; i < own.operands.size(); ++i) {
      const bool fits = own.operands.size() == call.operands.size() && own.operands[i].kind == OperandKind::argument &&
                        call.operands[i].offset == kNoValue;
      if (!fits) throw InternalError("expected calls of " + call.symbol + " with the same whole tensors");
      operands[own.operands[i].index] = &call.operands[i];
    }
    return operands;
  }

  void run(const CallStep& call) {
    const auto found = functions_.find(call.symbol);
    if (found == functions_.end()) throw InternalError("expected code for " + call.symbol);
    const FunctionInfo& info = found->second.info();
    const std::vector<const Operand*> operands = operands_of(info, call);
    const std::vector<Shape> shapes = value_or_throw(infer_shapes(info, {}));
    std::vector<Contents> constants;
    std::vector<Argument> arguments;
    for (std::size_t p = 0; p < operands.size(); ++p) {
      const ParameterInfo& parameter = info.parameters[p];
      if (parameter.direction != Direction::in) continue;
      if (operands[p] == nullptr) {
        arguments.emplace_back(device_.empty(parameter.dtype, shapes[p]));
      } else {
        if (operands[p]->kind != OperandKind::constant)
          throw InternalError("expected an init plan that reads constants");
        constants.push_back(read_constant(manifest_, blobs_, operands[p]->index));
        arguments.emplace_back(View{parameter.dtype, shapes[p], constants.back().data()});
      }
    }
    const std::vector<DeviceTensor> outputs = found->second.call(arguments);
    auto output = outputs.begin();
    for (std::size_t p = 0; p < operands.size(); ++p) {
      if (info.parameters[p].direction == Direction::in) continue;
      if (operands[p] != nullptr) {
        if (operands[p]->kind != OperandKind::persistent)
          throw InternalError("expected an init plan that writes buffers");
        read(*output, contents_.at(operands[p]->index));
      }
      ++output;
    }
  }

  static void read(const DeviceTensor& tensor, Contents& contents) {
    if (tensor.bytes() != contents.size()) throw InternalError("expected persistent buffers of the same size");
    tensor.read(contents.data());
  }

  const Manifest& manifest_;
  const FunctionInfo& function_;
  const BlobSource* blobs_;
  const Device& device_;
  std::map<std::string, Function> functions_;
  std::vector<std::int64_t> values_;  // symbols, on which no value of the init plan depends, and values
  std::vector<Contents> contents_;
};

bool is_init_module(const CodeImage& image) { return image.kind == ImageKind::init_module; }

}  // namespace

bool has_init_modules(const CompiledModule& module) {
  return std::ranges::any_of(value_or_throw(read_module(module.bytes())).images, is_init_module);
}

CompiledModule run_init_plan(const CompiledModule& module, const Device& device) {
  ModuleFile file = value_or_throw(read_module(module.bytes()));
  InitPlan plan(file.manifest, module.blobs(), device);
  for (const CodeImage& image : file.images)
    if (is_init_module(image)) plan.load(CompiledModule(image.bytes));
  std::shared_ptr<const BlobSource> constants = replace_init_plan(file.manifest, module.blobs(), plan.run());
  std::erase_if(file.images, is_init_module);
  return CompiledModule(write_module(file), std::move(constants));
}

}  // namespace ferry
