#include "host/graph/sizes_in.h"

namespace ferry::graph {

std::vector<Size*> sizes_in(Attributes& attributes) {
  std::vector<Size*> sizes;
  const auto add = [&](Shape& shape) {
    for (Size& size : shape) sizes.push_back(&size);
  };
  if (auto* reshape = std::get_if<ReshapeAttributes>(&attributes)) add(reshape->shape);
  if (auto* broadcast = std::get_if<BroadcastAttributes>(&attributes)) add(broadcast->shape);
  if (auto* slice = std::get_if<SliceAttributes>(&attributes)) add(slice->begin), add(slice->shape);
  if (auto* pad = std::get_if<PadAttributes>(&attributes)) add(pad->before), add(pad->after);
  if (auto* iota = std::get_if<IotaAttributes>(&attributes)) sizes.push_back(&iota->count);
  if (auto* listed = std::get_if<SizesAttributes>(&attributes)) add(listed->elements);
  if (auto* loop = std::get_if<LoopAttributes>(&attributes)) sizes.push_back(&loop->count);
  return sizes;
}

}  // namespace ferry::graph
