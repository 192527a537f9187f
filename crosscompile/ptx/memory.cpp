#include "crosscompile/ptx/memory.h"

#include <algorithm>

namespace ferry::ptx {
namespace {

constexpr std::uint32_t kWarp = 32;

std::uint32_t block_of(std::uint32_t thread, const Access& access) { return (thread - 1) / access.block_threads; }
std::uint32_t index_of(std::uint32_t thread, const Access& access) { return (thread - 1) % access.block_threads; }

bool is_in_block(std::uint32_t thread, const Access& access) {
  return block_of(thread, access) == block_of(access.thread, access);
}
bool is_in_warp(std::uint32_t thread, const Access& access) {
  return is_in_block(thread, access) && index_of(thread, access) / kWarp == index_of(access.thread, access) / kWarp;
}
std::uint32_t lane_of(std::uint32_t thread, const Access& access) { return index_of(thread, access) % kWarp; }

// Whether lanes of the accessing thread's warp have waited for it since `time`.
bool have_met(std::uint32_t lanes, std::uint32_t time, const Access& access) {
  const std::uint32_t lane = lane_of(access.thread, access);
  return access.block->have_met(index_of(access.thread, access) / kWarp, lanes & ~(1U << lane), lane, time);
}

bool is_before(std::uint32_t thread, std::uint32_t time, const Access& access) {
  if (thread == access.thread) return true;
  if (!is_in_block(thread, access)) return false;
  return access.block->is_past_barrier(time) ||
         (is_in_warp(thread, access) && have_met(1U << lane_of(thread, access), time, access));
}

bool are_before(const Accessors& others, const Access& access) {
  switch (others.spread) {
    case Accessors::nobody: return true;
    case Accessors::one: return is_before(others.last, others.time, access);
    case Accessors::of_one_warp:
      return is_in_block(others.last, access) &&
             (access.block->is_past_barrier(others.time) ||
              (is_in_warp(others.last, access) && have_met(others.lanes, others.time, access)));
    case Accessors::of_one_block: return is_in_block(others.last, access) && access.block->is_past_barrier(others.time);
    case Accessors::of_all: break;
  }
  return false;
}

// Those whom this access waited for need no mention any more: what waits for it waits for them.
void join(Accessors& others, const Access& access) {
  const std::uint32_t lane = 1U << lane_of(access.thread, access);
  if (are_before(others, access)) {
    others.spread = Accessors::one;
    others.lanes = lane;
  } else if (others.spread <= Accessors::of_one_warp && is_in_warp(others.last, access)) {
    others.spread = Accessors::of_one_warp;
    others.lanes |= lane;
  } else {
    const bool is_near = others.spread <= Accessors::of_one_block && is_in_block(others.last, access);
    others.spread = is_near ? Accessors::of_one_block : Accessors::of_all;
  }
  others.last = access.thread;
  others.time = access.block->now();
  others.place = access.place;
}

std::string thread_text(std::uint32_t thread, const Access& access) {
  return "thread " + std::to_string(index_of(thread, access)) + " of block " + std::to_string(block_of(thread, access));
}

std::string race_text(std::uint32_t thread, const char* does, std::uint32_t place, const Access& access) {
  return "a race: " + thread_text(thread, access) + " " + does + " it at " + access.program->place_text(place);
}

}  // namespace

void Synchronization::pass_barrier() {
  barrier_ = ++now_;
  for (std::vector<Meeting>& warp : warps_) warp.clear();
}

void Synchronization::pass_warp(std::uint32_t warp, std::uint32_t lanes) { warps_[warp].push_back({++now_, lanes}); }

bool Synchronization::have_met(std::uint32_t warp, std::uint32_t lanes, std::uint32_t lane, std::uint32_t time) const {
  const std::vector<Meeting>& meetings = warps_[warp];
  for (auto one = meetings.rbegin(); one != meetings.rend() && one->time > time && lanes != 0; ++one)
    if ((one->lanes >> lane & 1) != 0) lanes &= ~one->lanes;
  return lanes == 0;
}

std::string note(Region& region, std::size_t at, const Access& access, AccessKind kind) {
  Touched& byte = region.touched[at];
  const auto atomics = region.atomics.empty() ? region.atomics.end() : region.atomics.find(at);
  const bool has_atomics = atomics != region.atomics.end();
  if (byte.pending != 0) return "an asynchronous copy to it may not have landed";
  if (byte.writer != 0 && !is_before(byte.writer, byte.write_time, access))
    return race_text(byte.writer, "writes", byte.write_place, access);
  if (kind == AccessKind::read_only && (byte.writer != 0 || has_atomics))
    return "a load through the read-only cache finds what this kernel writes";
  if (kind != AccessKind::atomic && has_atomics && !are_before(atomics->second, access))
    return race_text(atomics->second.last, "changes", atomics->second.place, access);
  const bool is_read = kind == AccessKind::read || kind == AccessKind::read_only;
  if (!is_read && !are_before(byte.readers, access))
    return race_text(byte.readers.last, "reads", byte.readers.place, access);
  if (is_read) {
    join(byte.readers, access);
  } else if (kind == AccessKind::atomic) {
    join(region.atomics[at], access);
  } else {
    byte.writer = access.thread;
    byte.write_time = access.block->now();
    byte.write_place = access.place;
  }
  return "";
}

std::string grouped(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t end = text.size(); end > 3;) text.insert(end -= 3, ",");
  return text;
}

std::string place_in(const Region& region, Word address) {
  if (region.name.empty()) return "address " + std::to_string(address);
  const auto offset = static_cast<std::int64_t>(address - region.address);
  if (region.element_bytes == 0) return "byte " + std::to_string(offset) + " of " + region.name;
  const auto size = static_cast<std::int64_t>(region.element_bytes);
  const std::int64_t index = offset / size - (offset % size < 0 ? 1 : 0);
  return region.name + "[" + std::to_string(index) + "]";
}

Regions::Regions(std::vector<Region> regions) : regions_(std::move(regions)) {
  std::sort(regions_.begin(), regions_.end(), [](const Region& a, const Region& b) { return a.address < b.address; });
}

Region* Regions::find(Word address, std::size_t bytes) {
  const auto holds = [&](const Region& one) {
    return address >= one.address && bytes <= one.bytes && address - one.address <= one.bytes - bytes;
  };
  if (last_ < regions_.size() && holds(regions_[last_])) return &regions_[last_];
  const auto after = std::upper_bound(regions_.begin(), regions_.end(), address,
                                      [](Word value, const Region& one) { return value < one.address; });
  if (after == regions_.begin() || !holds(*(after - 1))) return nullptr;
  last_ = static_cast<std::size_t>(after - 1 - regions_.begin());
  return &regions_[last_];
}

const Region* Regions::nearest(Word address) const {
  const Region* best = nullptr;
  Word least = kWindowBytes;
  for (const Region& one : regions_) {
    if (one.name.empty()) continue;
    const Word before = address < one.address ? one.address - address : 0,
               behind = address >= one.address + one.bytes ? address - one.address - one.bytes : 0;
    if (before + behind >= least) continue;
    least = before + behind;
    best = &one;
  }
  return best;
}

}  // namespace ferry::ptx
