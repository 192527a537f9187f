// Copies a tensor (or only the required region, once the copy is computed at a loop) and makes stages read the copy.
//
//     for y: for x                          for y: for x: A.local[y,x] = A[y,x]
//       C[y,x] = f(A[y,x])            ->    for y: for x: C[y,x] = f(A.local[y,x])
//
// Without readers, every stage that reads the tensor reads the copy. The copy of an inlined stage computes it only
// once.
#include "crosscompile/analysis/loads.h"
#include "host/schedule/primitives/new_stage.h"
#include "host/schedule/primitives/primitives.h"

#include "crosscompile/ir/substitute.h"
#include "host/lang/stage.h"

#include <algorithm>

namespace ferry::schedule {

using analysis::loads_of;

namespace {

// Returns the tensor that the word before the colon names.
ir::BufferRef tensor_of(const Stages& stages, const ScheduledStage* stage, const std::string& name,
                        DirectiveArgs& args) {
  if (stage != nullptr) {
    if (stage->outputs.size() > 1) args.fail("a stage with one tensor", "'" + stage->name + "', which has several");
    return stage->outputs[0];
  }
  for (const ScheduledStage& reader : stages)
    for (const Expr& value : reader.expressions())
      for (const ir::Load* load : loads_of(value))
        if (load->buffer->name == name && producer_of(stages, load->buffer.get()) == nullptr) return load->buffer;
  args.fail("a stage or a parameter that a stage reads", "'" + name + "'");
}

}  // namespace

void cache_read(Stages& stages, ScheduledStage* stage, DirectiveArgs& args) {
  const ir::BufferRef tensor = tensor_of(stages, stage, args.subject(), args);
  const ir::Scope scope = args.scope();
  std::vector<std::string> readers;
  while (!args.at_end() && !args.is_next("->")) {
    const ScheduledStage& reader = args.stage();
    if (!reads(reader, {tensor})) args.fail("a reader of '" + tensor->name + "'", "'" + reader.name + "'");
    readers.push_back(reader.name);
  }
  const std::string name = args.new_stage(tensor->name + suffix_of(scope));
  args.end();
  ScheduledStage cache;
  cache.name = name;
  cache.scope = scope;
  for (std::size_t i = 0; i < tensor->shape.size(); ++i)
    cache.axes.push_back({ir::Var::make("i" + std::to_string(i)), Expr(0), tensor->shape[i]});
  cache.values = {ir::Load::make(tensor, variables_of(cache.axes))};
  const std::shared_ptr<ir::Buffer> copied = make_tensor(name, tensor->dtype, cache.axes);
  copied->storage.above_minimum = tensor->storage.above_minimum;
  cache.outputs = {copied};
  cache.loops = plain_loops(cache);
  std::vector<Stages::iterator> chosen;
  for (auto reader = stages.begin(); reader != stages.end(); ++reader) {
    const bool wanted = readers.empty() || std::find(readers.begin(), readers.end(), reader->name) != readers.end();
    if (!wanted || !reads(*reader, {tensor})) continue;
    for (const ScheduledStage::Prefetch& prefetch : reader->prefetches)
      if (prefetch.tensor == tensor)
        args.fail("cache_read before '" + tensor->name + "' is prefetched", "it after that in '" + reader->name + "'");
    chosen.push_back(reader);
  }
  if (chosen.empty()) args.fail("a tensor that a stage reads", "'" + tensor->name + "'");
  const ir::BufferSubstitution copy = {{tensor.get(), cache.outputs[0]}};
  for (const auto reader : chosen) {
    for (Expr& value : reader->values) value = ir::substitute_buffers(value, copy);
    for (Expr& index : reader->place) index = ir::substitute_buffers(index, copy);
  }
  stages.insert(chosen.front(), std::move(cache));
}

}  // namespace ferry::schedule
