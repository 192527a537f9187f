#include "device-runtime/runner/isolated_memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace ferry::device {
namespace {

std::uint64_t lead_of(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

Result<SharedPart> IsolatedMemory::own_part(Entry& entry, std::uint64_t bytes, std::uint64_t lead) {
  FERRY_ASSIGN(const SharedPart part, memory_.take(bytes, lead));
  entry.parts.push_back(part);
  end_ = std::max(end_, part.end());
  return part;
}

Result<SharedOperand> IsolatedMemory::own_operand(Entry& entry, const void* memory, std::uint64_t bytes,
                                                  bool is_written) {
  SharedOperand operand;
  operand.is_written = is_written ? 1 : 0;
  if (memory == nullptr || bytes == 0) return operand;
  const std::uint64_t lead = lead_of(memory);
  operand.bytes = bytes;
  FERRY_ASSIGN(operand.part, own_part(entry, bytes, lead));
  operand.offset = operand.part.offset + lead;
  return operand;
}

Result<SharedOperand> IsolatedMemory::kept_operand(Entry& entry, const MemoryBlock& block) {
  const SharedPart* const part = memory_.find(block.memory);
  entry.in_place.push_back(part == nullptr ? nullptr : block.memory);
  if (part == nullptr) return own_operand(entry, block.memory, block.bytes, false);
  SharedOperand operand;
  operand.part = *part;
  operand.offset = part->offset;
  operand.bytes = block.bytes;
  end_ = std::max(end_, part->end());
  return operand;
}

Status IsolatedMemory::add_lists(Entry& entry, const CallToIsolate& call) {
  Call& shared = entry.shared;
  FERRY_ASSIGN(shared.lists, own_part(entry, call.bound.symbols.size() * sizeof(std::int64_t) +
                                                 shared.operands.size() * sizeof(SharedOperand)));
  FERRY_ASSIGN(shared.page, own_part(entry, sizeof(RunnerPage)));
  return {};
}

Result<std::size_t> IsolatedMemory::add(const CallToIsolate& call, std::size_t sets) {
  Entry& entry = calls_.emplace_back();
  Call& shared = entry.shared;
  shared.sets = sets;
  shared.arguments = call.arguments.size();
  shared.persistent = call.kept.persistent.size();
  shared.constants = call.kept.constants.size();
  for (std::size_t set = 0; set < sets; ++set) {
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const DeviceArgument& argument = call.arguments[i];
      FERRY_ASSIGN(SharedOperand operand,
                   own_operand(entry, argument.is_scalar ? nullptr : argument.memory, call.bound.tensor_bytes[i],
                               call.function.parameters[i].direction != Direction::in));
      operand.is_scalar = argument.is_scalar ? 1 : 0;
      operand.scalar_bits = argument.scalar_bits;
      shared.operands.push_back(operand);
    }
  }
  for (const std::span<const MemoryBlock> blocks : {call.kept.persistent, call.kept.constants}) {
    for (const MemoryBlock& block : blocks) {
      FERRY_ASSIGN(shared.operands.emplace_back(), kept_operand(entry, block));
    }
  }
  FERRY_ASSIGN(shared.file, own_part(entry, call.file.size()));
  FERRY_TRY(add_lists(entry, call));
  return calls_.size() - 1;
}

Result<std::size_t> IsolatedMemory::add_twin(std::size_t of, const CallToIsolate& call) {
  Entry& entry = calls_.emplace_back();
  entry.shared = calls_[of].shared;
  entry.is_twin = true;
  for (std::size_t i = 0; i < entry.shared.sets * entry.shared.arguments; ++i) {
    SharedOperand& operand = entry.shared.operands[i];
    if (operand.is_written == 0 || operand.bytes == 0) continue;
    const std::uint64_t lead = operand.offset - operand.part.offset;
    FERRY_ASSIGN(operand.part, own_part(entry, operand.bytes, lead));
    operand.offset = operand.part.offset + lead;
  }
  FERRY_TRY(add_lists(entry, call));
  return calls_.size() - 1;
}

Status IsolatedMemory::map() {
  std::uint64_t bytes = 0;
  for (const Entry& entry : calls_)
    for (const SharedPart& part : entry.parts) bytes += part.bytes;
  FERRY_TRY(budget_.take(bytes));
  charged_ = bytes;
  FERRY_ASSIGN(mapping_, SharedMapping::reserve({0, end_}));
  for (const Entry& entry : calls_) {
    for (const SharedPart& part : entry.parts) {
      FERRY_TRY(mapping_.map(memory_.object(), part, true));
      if (!mapping_.use_huge_pages(part)) has_small_pages_ = true;
    }
  }
  return {};
}

IsolatedMemory::~IsolatedMemory() {
  for (const Entry& entry : calls_)
    for (const SharedPart& part : entry.parts) memory_.give_back(part);
  budget_.give_back(charged_);
}

std::vector<DeviceArgument> IsolatedMemory::arguments(std::size_t call, std::size_t set) const {
  std::vector<DeviceArgument> arguments;
  for (const SharedOperand& operand : calls_[call].shared.arguments_of(set)) {
    void* const memory = operand.bytes == 0 ? nullptr : mapping_.at(operand.offset);
    arguments.push_back({operand.is_scalar != 0, memory, operand.scalar_bits});
  }
  return arguments;
}

std::vector<MemoryBlock> IsolatedMemory::persistent(std::size_t call) const {
  std::vector<MemoryBlock> blocks;
  const auto& [shared, is_twin, parts, in_place] = calls_[call];
  for (std::size_t i = 0; i < shared.persistent; ++i) {
    const SharedOperand& operand = shared.kept()[i];
    blocks.push_back({in_place[i] != nullptr ? in_place[i] : mapping_.at(operand.offset), operand.bytes, 0});
  }
  return blocks;
}

void IsolatedMemory::copy_in(std::size_t call, const CallToIsolate& from) {
  const auto& [shared, is_twin, parts, in_place] = calls_[call];
  const auto copy = [&](const SharedOperand& operand, const void* memory) {
    if (operand.bytes == 0 || (is_twin && operand.is_written == 0)) return;
    std::memcpy(mapping_.at(operand.offset), memory, static_cast<std::size_t>(operand.bytes));
  };
  for (std::size_t set = 0; set < shared.sets; ++set)
    for (std::size_t i = 0; i < shared.arguments; ++i) copy(shared.arguments_of(set)[i], from.arguments[i].memory);
  std::size_t next = 0;
  for (const std::span<const MemoryBlock> blocks : {from.kept.persistent, from.kept.constants}) {
    for (const MemoryBlock& block : blocks) {
      if (!is_twin && in_place[next] == nullptr) copy(shared.kept()[next], block.memory);
      ++next;
    }
  }
  if (!is_twin) std::memcpy(mapping_.at(shared.file.offset), from.file.data(), from.file.size());
  std::uint8_t* lists = mapping_.at(shared.lists.offset);
  const std::size_t symbols = from.bound.symbols.size() * sizeof(std::int64_t);
  std::memcpy(lists, from.bound.symbols.data(), symbols);
  std::memcpy(lists + symbols, shared.operands.data(), shared.operands.size() * sizeof(SharedOperand));
}

void IsolatedMemory::copy_out(std::size_t call, const CallToIsolate& to) const {
  for (std::size_t i = 0; i < to.arguments.size(); ++i) {
    const SharedOperand& operand = calls_[call].shared.arguments_of(0)[i];
    if (operand.bytes != 0 && operand.is_written != 0)
      std::memcpy(to.arguments[i].memory, mapping_.at(operand.offset), static_cast<std::size_t>(operand.bytes));
  }
}

}  // namespace ferry::device
