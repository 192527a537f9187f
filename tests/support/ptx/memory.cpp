#include "tests/support/ptx/memory.h"

#include <algorithm>

namespace ferry::ptx {
namespace {

std::uint32_t block_of(std::uint32_t thread, const Access& access) { return (thread - 1) / access.block_threads; }

bool is_before(std::uint32_t thread, std::uint32_t epoch, const Access& access) {
  return thread == access.thread ||
         (block_of(thread, access) == block_of(access.thread, access) && epoch < access.epoch);
}

std::string thread_text(std::uint32_t thread, const Access& access) {
  return "thread " + std::to_string((thread - 1) % access.block_threads) + " of block " +
         std::to_string(block_of(thread, access));
}

}  // namespace

bool note_read(Touched& byte, const Access& access, bool is_read_only) {
  if (byte.pending != 0 || (is_read_only && byte.writer != 0)) return false;
  if (byte.writer != 0 && !is_before(byte.writer, byte.write_epoch, access)) return false;
  if (byte.readers == Touched::nobody) {
    byte.readers = Touched::one;
  } else if (byte.reader != access.thread) {
    const bool same =
        byte.readers != Touched::of_all && block_of(byte.reader, access) == block_of(access.thread, access);
    byte.readers = same ? Touched::of_one_block : Touched::of_all;
  }
  byte.reader = access.thread;
  byte.read_epoch = access.epoch;
  return true;
}

bool note_write(Touched& byte, const Access& access) {
  if (byte.pending != 0) return false;
  if (byte.writer != 0 && !is_before(byte.writer, byte.write_epoch, access)) return false;
  switch (byte.readers) {
    case Touched::nobody: break;
    case Touched::one:
      if (!is_before(byte.reader, byte.read_epoch, access)) return false;
      break;
    case Touched::of_one_block:
      if (block_of(byte.reader, access) != block_of(access.thread, access) || byte.read_epoch >= access.epoch)
        return false;
      break;
    case Touched::of_all: return false;
  }
  byte.writer = access.thread;
  byte.write_epoch = access.epoch;
  byte.write_line = access.line;
  return true;
}

std::string conflict(const Touched& byte, const Access& access, bool is_write) {
  if (byte.pending != 0) return "an asynchronous copy to it may not have landed";
  if (byte.writer != 0 && !is_before(byte.writer, byte.write_epoch, access))
    return "a race: " + thread_text(byte.writer, access) + " writes it at line " + std::to_string(byte.write_line);
  if (!is_write) return "a load through the read-only cache finds what this kernel writes";
  return "a race: " + thread_text(byte.reader, access) + " reads it";
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

}  // namespace ferry::ptx
