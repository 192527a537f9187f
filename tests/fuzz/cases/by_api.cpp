#include "tests/fuzz/cases/by_api.h"

#include "crosscompile/ir/mutator.h"
#include "ferry/lang/tensor.h"
#include "ferry/lang/text.h"
#include "host/lang/stage.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace ferry::fuzz {
namespace {

using lang::Tensor;

// Replaces tensors by those that were made again.
class Remade : public ir::Mutator {
 public:
  std::unordered_map<const ir::Buffer*, ir::BufferRef> tensors;

  Tensor of(const Tensor& tensor) {
    const auto found = tensors.find(tensor.buffer().get());
    return found == tensors.end() ? tensor : Tensor(found->second);
  }

 protected:
  using Mutator::mutate_node;
  ir::BufferRef mutate_buffer(const ir::BufferRef& buffer) override {
    const auto found = tensors.find(buffer.get());
    return found == tensors.end() ? buffer : found->second;
  }
};

}  // namespace

lang::Program made_by_api(const lang::Program& program) {
  Remade remade;
  const std::vector<Tensor> computed = lang::computed_tensors(program);
  // What is computed in sequence, and what a scatter updates, has no form of its own here.
  const bool has_sequences = std::any_of(computed.begin(), computed.end(),
                                         [](const Tensor& tensor) { return tensor.stage()->sequence != nullptr; });
  if (has_sequences) return program;
  for (std::size_t i = 0; i < computed.size();) {
    const lang::Stage& stage = *computed[i].stage();
    std::size_t end = i;
    while (end < computed.size() && computed[end].stage() == &stage) ++end;
    // The stages that check indices are derived again.
    if (stage.assertion.empty()) {
      std::vector<ir::Expr> values;
      std::vector<std::string> names;
      for (std::size_t k = i; k < end; ++k) {
        // A sum in float32 of narrow floats is rounded again.
        const ir::Expr value = remade.mutate(stage.values[computed[k].buffer()->component]);
        values.push_back(ir::cast(computed[k].dtype(), value));
        names.push_back(computed[k].name());
      }
      const std::vector<Tensor> outputs = lang::compute_over(stage.axes, std::move(values), names.back(), names);
      for (std::size_t k = i; k < end; ++k) remade.tensors[computed[k].buffer().get()] = outputs[k - i].buffer();
    }
    i = end;
  }
  std::vector<lang::Parameter> parameters = program.parameters;
  for (lang::Parameter& parameter : parameters)
    if (parameter.kind == ParameterKind::tensor) parameter.tensor = remade.of(parameter.tensor);
  return lang::make_program(program.name, std::move(parameters), {}, program.context);
}

lang::Program program_of(const FuzzCase& fuzz_case) {
  lang::Program program = lang::parse(source_of(fuzz_case), "case.tc").at(0);
  return fuzz_case.by_api ? made_by_api(program) : program;
}

}  // namespace ferry::fuzz
