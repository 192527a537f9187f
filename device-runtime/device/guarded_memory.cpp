#include "device-runtime/device/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace ferry::device {
namespace {

constexpr std::uint64_t kTensorAlignment = 64;
// Floats with this pattern are NaN, so a result that depends on them is recognisable.
constexpr std::uint8_t kUntouched = 0xff;

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; }

bool is_untouched(const std::uint8_t* begin, const std::uint8_t* end) {
  return std::all_of(begin, end, [](std::uint8_t byte) { return byte == kUntouched; });
}

}  // namespace

GuardedMemory::~GuardedMemory() {
  for (const Block& block : blocks_) munmap(block.mapping, block.mapping_bytes);
}

std::uint64_t GuardedMemory::cost(std::uint64_t bytes) {
  const std::uint64_t page = page_bytes();
  return bytes > UINT64_MAX - page ? bytes : round_up(bytes, page);
}

void* GuardedMemory::take(std::uint64_t bytes) {
  const std::size_t page = page_bytes();
  const std::uint64_t inside = cost(bytes);
  if (inside > SIZE_MAX - 2 * page) return nullptr;
  const auto mapping_bytes = static_cast<std::size_t>(inside) + 2 * page;
  void* mapping = mmap(nullptr, mapping_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  std::uint8_t* const begin = static_cast<std::uint8_t*>(mapping) + page;
  std::uint8_t* const end = begin + inside;
  if (mprotect(begin, static_cast<std::size_t>(inside), PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping, mapping_bytes);
    return nullptr;
  }
  std::uint8_t* const memory = end - round_up(bytes, kTensorAlignment);
  std::memset(begin, kUntouched, static_cast<std::size_t>(memory - begin));
  std::memset(memory + bytes, kUntouched, static_cast<std::size_t>(end - memory) - static_cast<std::size_t>(bytes));
  blocks_.push_back({static_cast<std::uint8_t*>(mapping), mapping_bytes, memory, static_cast<std::size_t>(bytes)});
  return memory;
}

bool GuardedMemory::give_back(void* memory) {
  for (Block& block : blocks_) {
    if (block.memory != memory) continue;
    munmap(block.mapping, block.mapping_bytes);
    block = blocks_.back();
    blocks_.pop_back();
    return true;
  }
  return false;
}

MemoryDamage GuardedMemory::damage() const {
  const std::size_t page = page_bytes();
  for (const Block& block : blocks_) {
    if (!is_untouched(block.mapping + page, block.memory)) return {block.memory, false};
    if (!is_untouched(block.memory + block.bytes, block.mapping + block.mapping_bytes - page))
      return {block.memory, true};
  }
  return {};
}

}  // namespace ferry::device
