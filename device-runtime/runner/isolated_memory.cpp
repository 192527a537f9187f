#include "device-runtime/runner/isolated_memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace ferry::device {
namespace {

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }

std::uint64_t lead_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory) % page_bytes(); }

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

Result<SharedOperand> IsolatedMemory::operand_in_place(Entry& entry, void* memory, std::uint64_t bytes,
                                                       bool is_written) {
  const SharedPart* const part = memory_.find(memory);
  entry.in_place.push_back(part == nullptr ? nullptr : memory);
  if (part == nullptr) return own_operand(entry, memory, bytes, is_written);
  SharedOperand operand;
  operand.is_written = is_written ? 1 : 0;
  operand.part = *part;
  operand.offset = part->offset;
  operand.bytes = bytes;
  end_ = std::max(end_, part->end());
  return operand;
}

SharedOperand IsolatedMemory::step_constant(Entry& entry, const CallToIsolate& call, std::size_t constant) {
  entry.in_place.push_back(nullptr);
  SharedOperand operand;
  operand.bytes = call.kept.constants[constant].bytes;
  operand.offset = entry.shared.step_constants.offset + call.init->offsets[constant];
  operand.part = {operand.offset, (operand.bytes + page_bytes() - 1) / page_bytes() * page_bytes()};
  return operand;
}

Status IsolatedMemory::add_lists(Entry& entry, const CallToIsolate& call) {
  Call& shared = entry.shared;
  const std::uint64_t symbols = call.bound.symbols.size() * (1 + shared.others);
  FERRY_ASSIGN(shared.lists,
               own_part(entry, symbols * sizeof(std::int64_t) + shared.operands.size() * sizeof(SharedOperand)));
  FERRY_ASSIGN(shared.page, own_part(entry, sizeof(RunnerPage)));
  return {};
}

Status IsolatedMemory::add_arguments(Entry& entry, const FunctionInfo& function,
                                     std::span<const DeviceArgument> arguments, const BoundCall& bound,
                                     Tensors tensors) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const DeviceArgument& argument = arguments[i];
    void* const memory = argument.is_scalar ? nullptr : argument.memory;
    const bool is_written = function.parameters[i].direction != Direction::in;
    SharedOperand& operand = entry.shared.operands.emplace_back();
    if (tensors == Tensors::in_place) {
      FERRY_ASSIGN(operand, operand_in_place(entry, memory, bound.tensor_bytes[i], is_written));
    } else {
      entry.in_place.push_back(nullptr);
      FERRY_ASSIGN(operand, own_operand(entry, memory, bound.tensor_bytes[i], is_written));
    }
    operand.is_scalar = argument.is_scalar ? 1 : 0;
    operand.scalar_bits = argument.scalar_bits;
  }
  return {};
}

Result<std::size_t> IsolatedMemory::add(const CallToIsolate& call, std::size_t sets, Tensors tensors) {
  Entry& entry = calls_.emplace_back();
  Call& shared = entry.shared;
  shared.sets = sets;
  shared.others = call.others.size();
  shared.arguments = call.arguments.size();
  shared.persistent = call.kept.persistent.size();
  shared.constants = call.kept.constants.size();
  for (std::size_t set = 0; set < sets; ++set) {
    FERRY_TRY(add_arguments(entry, call.function, call.arguments, call.bound, set == 0 ? tensors : Tensors::copied));
  }
  for (const OtherCall& other : call.others) {
    FERRY_TRY(add_arguments(entry, call.function, other.arguments, other.bound, Tensors::copied));
  }
  for (const MemoryBlock& block : call.kept.persistent) {
    FERRY_ASSIGN(shared.operands.emplace_back(),
                 operand_in_place(entry, block.memory, block.bytes, call.init != nullptr));
  }
  if (call.init != nullptr && call.init->bytes != 0) {
    FERRY_ASSIGN(shared.step_constants, own_part(entry, call.init->bytes));
  }
  for (std::size_t i = 0; i < call.kept.constants.size(); ++i) {
    const MemoryBlock& block = call.kept.constants[i];
    SharedOperand& operand = shared.operands.emplace_back();
    if (call.init != nullptr) {
      operand = step_constant(entry, call, i);
    } else {
      FERRY_ASSIGN(operand, operand_in_place(entry, block.memory, block.bytes, false));
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
  for (std::size_t i = 0; i < entry.shared.all_arguments(); ++i) {
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

void* IsolatedMemory::place_of(const Entry& entry, std::size_t operand) const {
  if (!entry.in_place.empty() && entry.in_place[operand] != nullptr) return entry.in_place[operand];
  const SharedOperand& shared = entry.shared.operands[operand];
  return shared.bytes == 0 ? nullptr : mapping_.at(shared.offset);
}

std::vector<DeviceArgument> IsolatedMemory::arguments(std::size_t call, std::size_t set) const {
  const Entry& entry = calls_[call];
  std::vector<DeviceArgument> arguments;
  for (std::size_t i = 0; i < entry.shared.arguments; ++i) {
    const std::size_t operand = set * entry.shared.arguments + i;
    const SharedOperand& shared = entry.shared.operands[operand];
    arguments.push_back({shared.is_scalar != 0, place_of(entry, operand), shared.scalar_bits});
  }
  return arguments;
}

std::vector<MemoryBlock> IsolatedMemory::persistent(std::size_t call) const {
  const Entry& entry = calls_[call];
  const std::size_t first = entry.shared.all_arguments();
  std::vector<MemoryBlock> blocks;
  for (std::size_t i = first; i < first + entry.shared.persistent; ++i)
    blocks.push_back({place_of(entry, i), entry.shared.operands[i].bytes, 0});
  return blocks;
}

void IsolatedMemory::copy_in(std::size_t call, const CallToIsolate& from) {
  const Entry& entry = calls_[call];
  const Call& shared = entry.shared;
  std::size_t next = 0;
  const auto copy_next = [&](const void* memory) {
    const std::size_t i = next++;
    const SharedOperand& operand = shared.operands[i];
    if (operand.bytes == 0 || (entry.is_twin && operand.is_written == 0)) return;
    void* const place = place_of(entry, i);
    if (place != memory) std::memcpy(place, memory, static_cast<std::size_t>(operand.bytes));
  };
  for (std::size_t set = 0; set < shared.sets; ++set)
    for (const DeviceArgument& argument : from.arguments) copy_next(argument.memory);
  for (const OtherCall& other : from.others)
    for (const DeviceArgument& argument : other.arguments) copy_next(argument.memory);
  for (const MemoryBlock& block : from.kept.persistent) copy_next(block.memory);
  if (from.init == nullptr)
    for (const MemoryBlock& block : from.kept.constants) copy_next(block.memory);
  if (!entry.is_twin) std::memcpy(mapping_.at(shared.file.offset), from.file.data(), from.file.size());
  std::uint8_t* lists = mapping_.at(shared.lists.offset);
  const auto copy_symbols = [&](const BoundCall& bound) {
    std::memcpy(lists, bound.symbols.data(), bound.symbols.size() * sizeof(std::int64_t));
    lists += bound.symbols.size() * sizeof(std::int64_t);
  };
  copy_symbols(from.bound);
  for (const OtherCall& other : from.others) copy_symbols(other.bound);
  std::memcpy(lists, shared.operands.data(), shared.operands.size() * sizeof(SharedOperand));
}

void IsolatedMemory::copy_constant(std::size_t call, const CallToIsolate& from, std::size_t constant) {
  const MemoryBlock& block = from.kept.constants[constant];
  const Call& shared = calls_[call].shared;
  const SharedOperand& operand = shared.operands[shared.all_arguments() + shared.persistent + constant];
  if (block.bytes != 0) std::memcpy(mapping_.at(operand.offset), block.memory, static_cast<std::size_t>(block.bytes));
}

void IsolatedMemory::copy_out(std::size_t call, const CallToIsolate& to) const {
  const Entry& entry = calls_[call];
  for (std::size_t i = 0; i < to.arguments.size(); ++i) {
    const SharedOperand& operand = entry.shared.operands[i];
    const void* const place = place_of(entry, i);
    if (operand.bytes != 0 && operand.is_written != 0 && place != to.arguments[i].memory)
      std::memcpy(to.arguments[i].memory, place, static_cast<std::size_t>(operand.bytes));
  }
}

void IsolatedMemory::copy_persistent_out(std::size_t call, const CallToIsolate& to) const {
  const std::vector<MemoryBlock> blocks = persistent(call);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    void* const destination = to.kept.persistent[i].memory;
    if (blocks[i].bytes != 0 && blocks[i].memory != destination)
      std::memcpy(destination, blocks[i].memory, static_cast<std::size_t>(blocks[i].bytes));
  }
}

}  // namespace ferry::device
