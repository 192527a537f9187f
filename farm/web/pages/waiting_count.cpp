#include "farm/web/pages/waiting_count.h"

#include <algorithm>

namespace ferry::farm::http {
namespace {

BoardDescription described(const wire::DeviceListing& board) {
  const wire::Description& from = board.description;
  BoardDescription result{board.name, from.model,    from.arch, from.cpu, from.memory_bytes,
                          from.cores, from.features, {},        {}};
  for (const wire::Accelerator& device : from.accelerators) result.devices.push_back({device.kind, device.arch});
  for (const wire::Label& tag : from.tags) result.tags[tag.name] = tag.value;
  return result;
}

}  // namespace

WaitingCount::WaitingCount(const wire::QueuePage& queue) : has_more_(queue.has_more) {
  for (const wire::QueueListing& request : queue.requests) {
    std::vector<Selector>& slots = requests_.emplace_back();
    for (const std::string& slot : request.selectors) {
      if (auto selector = parse_selector(slot); selector.is_ok()) slots.push_back(std::move(selector.value()));
    }
  }
}

std::string WaitingCount::of(const wire::DeviceListing& board) const {
  const BoardDescription description = described(board);
  const auto count = std::count_if(requests_.begin(), requests_.end(), [&](const std::vector<Selector>& slots) {
    return std::any_of(slots.begin(), slots.end(), [&](const Selector& slot) { return matches(slot, description); });
  });
  return std::to_string(count) + (has_more_ ? "+" : "");
}

}  // namespace ferry::farm::http
