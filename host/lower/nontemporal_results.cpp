#include "host/lower/nontemporal_results.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"

#include <algorithm>
#include <unordered_set>

namespace ferry::lower {

using namespace ir;

void mark_nontemporal_results(Function& function, const schedule::Stages& stages) {
  const auto asks_nontemporal = [&](const FunctionParameter& parameter) {
    return std::any_of(stages.begin(), stages.end(), [&](const schedule::ScheduledStage& stage) {
      const auto is_it = [&](const BufferRef& output) { return output->name == parameter.buffer->name; };
      return stage.nontemporal && std::any_of(stage.outputs.begin(), stage.outputs.end(), is_it);
    });
  };
  const std::unordered_set<const Buffer*> read = analysis::buffers_read(function.body);
  BufferSubstitution replacements;
  for (FunctionParameter& parameter : function.parameters) {
    if (parameter.kind != ParameterKind::tensor || parameter.direction != Direction::out ||
        !asks_nontemporal(parameter) || read.contains(parameter.buffer.get()))
      continue;
    Buffer buffer = *parameter.buffer;
    buffer.storage.nontemporal = true;
    const BufferRef replaced = std::exchange(parameter.buffer, std::make_shared<Buffer>(std::move(buffer)));
    replacements[replaced.get()] = parameter.buffer;
  }
  if (!replacements.empty()) function.body = substitute_buffers(function.body, replacements);
}

}  // namespace ferry::lower
