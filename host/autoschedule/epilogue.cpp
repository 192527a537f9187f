#include "host/autoschedule/epilogue.h"

#include "crosscompile/analysis/loads.h"

#include <algorithm>
#include <vector>

namespace ferry::autoschedule {

using namespace ir;
using analysis::loads_of;
using schedule::ComputeKind;
using schedule::ScheduledStage;
using schedule::Stages;

namespace {

bool has(const std::vector<BufferRef>& tensors, const BufferRef& tensor) {
  return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
}

// Whether each element of the reader depends only on the elements of these tensors at the same indices.
bool reads_in_place(const ScheduledStage& reader, const std::vector<BufferRef>& tensors) {
  for (const Expr& value : reader.values)
    for (const Load* load : loads_of(value)) {
      if (!has(tensors, load->buffer)) continue;
      if (load->indices.size() != reader.axes.size()) return false;
      for (std::size_t a = 0; a < reader.axes.size(); ++a)
        if (!load->indices[a].same_as(reader.axes[a].var)) return false;
    }
  return true;
}

}  // namespace

std::string epilogue_stage(const Stages& stages, const ScheduledStage& stage) {
  if (stage.is_final()) return "";
  const std::vector<const ScheduledStage*> readers = readers_of(stages, stage);
  if (readers.size() != 1 || readers[0]->reduction() != nullptr || readers[0]->compute_kind != ComputeKind::root ||
      readers[0]->external != nullptr || readers[0]->sequence != nullptr || !readers[0]->updated_by.empty() ||
      readers[0]->axes.size() != stage.axes.size())
    return "";
  // Reads through inlined stages count as well.
  std::vector<BufferRef> tensors = stage.outputs;
  for (const ScheduledStage& other : stages) {
    if (other.compute_kind != ComputeKind::inlined || !reads(other, tensors)) continue;
    if (!reads_in_place(other, tensors)) return "";
    tensors.insert(tensors.end(), other.outputs.begin(), other.outputs.end());
  }
  return reads_in_place(*readers[0], tensors) ? readers[0]->name : "";
}

}  // namespace ferry::autoschedule
