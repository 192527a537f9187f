#include "host/autoschedule/packing.h"

#include "crosscompile/ir/substitute.h"
#include "host/autoschedule/contraction.h"
#include "host/autoschedule/default_loops.h"

#include <algorithm>
#include <utility>

namespace ferry::autoschedule {

using namespace ir;
using schedule::Schedule;
using schedule::StageHandle;
using schedule::StageLoops;

namespace {

// Returns the other dimensions in the order in which a panel stores them.
std::vector<std::size_t> stored_order(std::size_t rank, const Packing& packing) {
  std::vector<std::size_t> order, summed;  // all, and places in them of dimensions along the sum
  std::vector<std::pair<std::size_t, std::size_t>> by_loop;
  for (std::size_t d = 0; d < rank; ++d) {
    if (d == packing.dimension || d == packing.vector_dimension || d == packing.group_dimension) continue;
    const auto loop = std::ranges::find_if(
        packing.sum, [&](const Axis& axis) { return uses_var(packing.load->indices[d], axis.var); });
    if (loop != packing.sum.end()) {
      summed.push_back(order.size());
      by_loop.emplace_back(static_cast<std::size_t>(loop - packing.sum.begin()), d);
    }
    order.push_back(d);
  }
  std::ranges::stable_sort(by_loop, {}, [](const auto& entry) { return entry.first; });
  for (std::size_t i = 0; i < summed.size(); ++i) order[summed[i]] = by_loop[i].second;
  return order;
}

std::string layout_text(std::size_t rank, const Packing& packing) {
  std::string axes, parts;
  const std::string size = std::to_string(packing.panel);
  const std::string packed = "d" + std::to_string(packing.dimension);
  for (std::size_t d = 0; d < rank; ++d) axes += (d == 0 ? "d" : ", d") + std::to_string(d);
  for (const std::size_t d : stored_order(rank, packing)) parts += ", d" + std::to_string(d);
  std::string vector;
  for (const auto& inner : {packing.vector_dimension, packing.group_dimension})
    if (inner) vector += ", d" + std::to_string(*inner);
  return "(" + axes + ") -> (" + packed + " / " + size + parts + ", " + packed + " % " + size + vector + ")";
}

// Returns the dimension with the smallest stride that has at least a vector of elements, or the packed dimension if
// that one has a smaller stride or there is no other.
std::size_t lane_dimension(const Packing& packing) {
  const Buffer& tensor = *packing.load->buffer;
  std::size_t best = packing.dimension;
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    if (d != packing.dimension && constant_extent(tensor.shape[d]) < packing.lanes) continue;
    if (stride_bytes(tensor, d) < stride_bytes(tensor, best)) best = d;
  }
  return best;
}

}  // namespace

std::string pack(Schedule& schedule, const std::string& reader, const Packing& packing) {
  const Packing given = packing;
  const std::size_t rank = given.load->buffer->shape.size();
  const std::size_t lane_axis = given.vector_dimension.value_or(lane_dimension(given));
  const std::string source = given.load->buffer->name;
  StageHandle copy = StageHandle(schedule, source).cache_read("global", {reader});
  copy.transform_layout(layout_text(rank, given));
  const StageLoops loops = stage_of(schedule, copy).loops;
  std::vector<std::string> others;
  for (std::size_t d = 0; d < rank; ++d)
    if (d != given.dimension && d != lane_axis && d != given.group_dimension)
      others.push_back(loops.loop(loops.spatial(d)).name);
  const std::string packed = loops.loop(loops.spatial(given.dimension)).name;
  if (given.vector_dimension) {
    // Copies the vectors of a panel.
    const auto [panels, panel] = copy.split(packed, given.panel);
    std::vector<std::string> order = {panels};
    order.insert(order.end(), others.begin(), others.end());
    order.insert(order.end(), {panel, loops.loop(loops.spatial(lane_axis)).name});
    if (given.group_dimension) order.push_back(loops.loop(loops.spatial(*given.group_dimension)).name);
    copy.reorder(order).vectorize(order.back());
    return copy.name();
  }
  if (lane_axis == given.dimension) {
    // Copies rows of the panel unchanged.
    const auto [panels, panel] = copy.split(packed, given.panel);
    std::vector<std::string> order = {panels};
    order.insert(order.end(), others.begin(), others.end());
    if (given.panel % given.lanes != 0) {
      order.push_back(panel);
      copy.reorder(order);
      return copy.name();
    }
    const auto [vectors, lane] = copy.split(panel, given.lanes);
    order.insert(order.end(), {vectors, lane});
    copy.reorder(order).unroll(vectors).vectorize(lane);
    return copy.name();
  }
  // Copies a tile of vectors along the contiguous dimension and transposes it.
  const std::int64_t tile = given.panel % given.lanes == 0 ? given.lanes : given.panel;
  const auto [panels, inside] = copy.split(packed, tile);
  const auto [vectors, lane] = copy.split(loops.loop(loops.spatial(lane_axis)).name, given.lanes);
  std::vector<std::string> order = {panels};
  order.push_back(vectors);
  order.insert(order.end(), others.begin(), others.end());
  order.insert(order.end(), {inside, lane});
  copy.reorder(order).unroll(inside).vectorize(lane);
  return copy.name();
}

}  // namespace ferry::autoschedule
