#include "device-runtime/emulator/plugin/block_counts.h"

#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace ferry::emulator {

// The text of the instructions follows in memory. No block is ever freed: code that was translated may still run.
struct CountedBlock {
  std::atomic<std::uint64_t> entered{0};
  CountedBlock* next = nullptr;
  std::uint64_t address = 0;
  char* text = nullptr;
};

namespace {

std::mutex mutex;
CountedBlock* first = nullptr;

char* write_instruction(char* at, const qemu_plugin_insn* instruction) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto* bytes = static_cast<const unsigned char*>(qemu_plugin_insn_data(instruction));
  const std::size_t size = qemu_plugin_insn_size(instruction);
  *at++ = ' ';
  for (std::size_t i = 0; i < size; ++i) {
    *at++ = kDigits[bytes[i] >> 4];
    *at++ = kDigits[bytes[i] & 15];
  }
  return at;
}

}  // namespace

CountedBlock* add_block(const qemu_plugin_tb* block) {
  const std::size_t count = qemu_plugin_tb_n_insns(block);
  std::size_t characters = 1;
  for (std::size_t i = 0; i < count; ++i)
    characters += 1 + 2 * qemu_plugin_insn_size(qemu_plugin_tb_get_insn(block, i));
  void* memory = std::malloc(sizeof(CountedBlock) + characters);
  if (memory == nullptr) return nullptr;
  auto* added = new (memory) CountedBlock;
  added->address = qemu_plugin_tb_vaddr(block);
  char* at = added->text = static_cast<char*>(memory) + sizeof(CountedBlock);
  for (std::size_t i = 0; i < count; ++i) at = write_instruction(at, qemu_plugin_tb_get_insn(block, i));
  *at = 0;
  const std::lock_guard lock(mutex);
  added->next = first;
  return first = added;
}

void enter(CountedBlock& block) { block.entered.fetch_add(1, std::memory_order_relaxed); }

bool write_blocks(const char* file) {
  FILE* out = std::fopen(file, "we");
  if (out == nullptr) return false;
  const std::lock_guard lock(mutex);
  for (CountedBlock* block = first; block != nullptr; block = block->next) {
    const std::uint64_t entered = block->entered.exchange(0, std::memory_order_relaxed);
    if (entered > 0) std::fprintf(out, "%" PRIu64 " %" PRIx64 "%s\n", entered, block->address, block->text);
  }
  const bool is_written = std::ferror(out) == 0;
  return std::fclose(out) == 0 && is_written;
}

}  // namespace ferry::emulator
