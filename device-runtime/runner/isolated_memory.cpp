#include "device-runtime/runner/isolated_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "base/format.h"

namespace ferry::device {
namespace {

std::uint64_t lead_of(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

SharedPart IsolatedMemory::own_part(Entry& entry, std::uint64_t bytes, std::uint64_t lead) {
  return entry.parts.emplace_back(layout_.add(bytes, lead));
}

SharedOperand IsolatedMemory::own_operand(Entry& entry, const void* memory, std::uint64_t bytes, bool is_written) {
  SharedOperand operand;
  operand.is_written = is_written ? 1 : 0;
  if (memory == nullptr || bytes == 0) return operand;
  const std::uint64_t lead = lead_of(memory);
  operand.bytes = bytes;
  operand.part = own_part(entry, bytes, lead);
  operand.offset = operand.part.offset + lead;
  return operand;
}

void IsolatedMemory::add_lists(Entry& entry, const CallToIsolate& call) {
  Call& shared = entry.shared;
  shared.lists = own_part(
      entry, call.bound.symbols.size() * sizeof(std::int64_t) + shared.operands.size() * sizeof(SharedOperand));
  shared.page = own_part(entry, sizeof(RunnerPage));
}

std::size_t IsolatedMemory::add(const CallToIsolate& call, std::size_t sets) {
  Entry& entry = calls_.emplace_back();
  Call& shared = entry.shared;
  shared.sets = sets;
  shared.arguments = call.arguments.size();
  shared.persistent = call.kept.persistent.size();
  shared.constants = call.kept.constants.size();
  for (std::size_t set = 0; set < sets; ++set) {
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const DeviceArgument& argument = call.arguments[i];
      SharedOperand operand =
          own_operand(entry, argument.is_scalar ? nullptr : argument.memory, call.bound.tensor_bytes[i],
                      call.function.parameters[i].direction != Direction::in);
      operand.is_scalar = argument.is_scalar ? 1 : 0;
      operand.scalar_bits = argument.scalar_bits;
      shared.operands.push_back(operand);
    }
  }
  for (const std::span<const MemoryBlock> blocks : {call.kept.persistent, call.kept.constants})
    for (const MemoryBlock& block : blocks)
      shared.operands.push_back(own_operand(entry, block.memory, block.bytes, false));
  shared.file = own_part(entry, call.file.size());
  add_lists(entry, call);
  return calls_.size() - 1;
}

std::size_t IsolatedMemory::add_twin(std::size_t of, const CallToIsolate& call) {
  Entry entry{calls_[of].shared, true, {}};
  for (std::size_t i = 0; i < entry.shared.sets * entry.shared.arguments; ++i) {
    SharedOperand& operand = entry.shared.operands[i];
    if (operand.is_written == 0 || operand.bytes == 0) continue;
    const std::uint64_t lead = operand.offset - operand.part.offset;
    operand.part = own_part(entry, operand.bytes, lead);
    operand.offset = operand.part.offset + lead;
  }
  add_lists(entry, call);
  calls_.push_back(std::move(entry));
  return calls_.size() - 1;
}

Status IsolatedMemory::map() {
  if (layout_.bytes() > isolation_.bytes) {
    return {ErrorCode::resource_exhausted, format("the tensors need %llu bytes of shared memory, there are %llu",
                                                  static_cast<unsigned long long>(layout_.bytes()),
                                                  static_cast<unsigned long long>(isolation_.bytes))};
  }
  std::uint64_t bytes = 0;
  for (const Entry& entry : calls_)
    for (const SharedPart& part : entry.parts) bytes += part.bytes;
  FERRY_TRY(budget_.take(bytes));
  charged_ = bytes;
  FERRY_ASSIGN(mapping_, SharedMapping::reserve(layout_.bytes()));
  for (const Entry& entry : calls_)
    for (const SharedPart& part : entry.parts) FERRY_TRY(mapping_.map(isolation_.object.number(), part, true));
  return {};
}

IsolatedMemory::~IsolatedMemory() {
  if (charged_ == 0) return;
  for (const Entry& entry : calls_)
    for (const SharedPart& part : entry.parts)
      if (part.bytes != 0) madvise(mapping_.at(part.offset), static_cast<std::size_t>(part.bytes), MADV_REMOVE);
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
  const Call& shared = calls_[call].shared;
  for (const SharedOperand& operand : shared.kept().first(shared.persistent))
    blocks.push_back({mapping_.at(operand.offset), operand.bytes, 0});
  return blocks;
}

void IsolatedMemory::copy_in(std::size_t call, const CallToIsolate& from) {
  const auto& [shared, is_twin, parts] = calls_[call];
  const auto copy = [&](const SharedOperand& operand, const void* memory) {
    if (operand.bytes == 0 || (is_twin && operand.is_written == 0)) return;
    std::memcpy(mapping_.at(operand.offset), memory, static_cast<std::size_t>(operand.bytes));
  };
  for (std::size_t set = 0; set < shared.sets; ++set)
    for (std::size_t i = 0; i < shared.arguments; ++i) copy(shared.arguments_of(set)[i], from.arguments[i].memory);
  std::size_t next = 0;
  for (const std::span<const MemoryBlock> blocks : {from.kept.persistent, from.kept.constants})
    for (const MemoryBlock& block : blocks) copy(shared.kept()[next++], block.memory);
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
