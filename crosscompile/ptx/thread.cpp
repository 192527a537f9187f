#include "crosscompile/ptx/thread.h"

#include <algorithm>

#include "crosscompile/ptx/block.h"

namespace ferry::ptx {
namespace {

constexpr Word kFrameBytes = Word{1} << 20;  // local memory of each frame, so that an address identifies its frame
constexpr std::uint8_t kGarbage = 0xa5;
constexpr std::size_t kMostFrames = 16;

std::string space_text(Space space) {
  switch (space) {
    case Space::generic: return "generic";
    case Space::global: return "global";
    case Space::shared: return "shared";
    case Space::local: return "local";
    case Space::param: break;
  }
  return "param";
}

}  // namespace

Thread::Thread(Block& block, const Function& kernel, std::uint32_t index, std::span<const Word> specials,
               std::span<const std::uint8_t> parameters)
    : block_(block), index_(index) {
  values_.assign(specials.begin(), specials.end());
  unwritten_.assign(specials.size(), 0);
  enter(kernel);
  std::copy(parameters.begin(), parameters.end(), frames_.back().parameters.begin());
  std::fill_n(frames_.back().unwritten_parameters.begin(), parameters.size(), std::uint8_t{0});
}

// Registers of the frame are addressed relative to `base_`, where copies of the special registers would be.
void Thread::enter(const Function& function) {
  if (frames_.size() >= kMostFrames) fail(FaultKind::endless, "calls are nested too deep");
  Frame frame;
  frame.function = &function;
  frame.registers = frames_.empty() ? 0 : values_.size();
  values_.resize(frame.registers + function.register_count, block_.random()());
  unwritten_.resize(frame.registers + function.register_count, ~Word{0});
  frame.parameters.assign(function.parameter_bytes, kGarbage);
  frame.unwritten_parameters.assign(function.parameter_bytes, 1);
  std::size_t bytes = 0;
  for (const Array& one : function.local) bytes = std::max<std::size_t>(bytes, one.offset + one.bytes);
  frame.local_content.assign(bytes, kGarbage);
  frames_.push_back(std::move(frame));
  Frame& made = frames_.back();
  const Word first = (frames_.size() - 1) * kFrameBytes;
  for (const Array& one : function.local)
    made.local.push_back({first + one.offset, one.bytes, made.local_content.data() + one.offset,
                          std::vector<std::uint8_t>(one.bytes, 1), one.name});
  base_ = made.registers;
}

void Thread::fail(FaultKind kind, const std::string& what) const {
  std::string text = frames_.empty() ? "" : frames_.front().function->shown + ": ";
  text += "thread " + std::to_string(index_) + " of " + block_.text();
  if (current_ != nullptr)
    text += ", " + block_.launch().program->place_text(current_->place) + " (" + current_->text + ")";
  throw Fault(kind, text + ": " + what);
}

void Thread::run() {
  std::uint64_t steps = 0;
  while (state_ == State::running) {
    Frame& frame = frames_.back();
    const Instruction& one = frame.function->code[frame.next++];
    current_ = &one;
    if (++steps % 4096 == 0) block_.count_steps(4096);
    if (one.has_guard && !decides(one.guard)) continue;
    if (one.together != nullptr)
      wait(State::at_warp, one);
    else
      one.execute(*this, one);
  }
}

bool Thread::decides(const Operand& predicate) {
  if ((unwritten(predicate) & 1) != 0)
    fail(FaultKind::unwritten, "'" + predicate.name + "' decides, and was never written");
  return ((value(predicate) & 1) != 0) != predicate.is_negated;
}

std::uint32_t Thread::lanes_of(const Instruction& instruction) const {
  if (instruction.lanes < 0) return ~0U;
  const Operand& lanes = instruction.operands[static_cast<std::size_t>(instruction.lanes)];
  if ((unwritten(lanes) & 0xffffffff) != 0) fail(FaultKind::unwritten, "the mask of its lanes was never written");
  return static_cast<std::uint32_t>(value(lanes));
}

Word Thread::address(const Operand& operand) {
  if (operand.has_register) {
    if (unwritten_[place_of(operand.reg)] != 0)
      fail(FaultKind::unwritten, "the address in '" + operand.name + "' was never written");
    return values_[place_of(operand.reg)] + operand.value;
  }
  return operand.value + (operand.space == Space::local ? (frames_.size() - 1) * kFrameBytes : 0);
}

Access Thread::access() const {
  return {block_.number() * block_.thread_count() + index_ + 1, block_.thread_count(), current_->place,
          &block_.synchronization(), block_.launch().program};
}

void Thread::fail_outside(const Regions* regions, Space space, Word address, unsigned bytes, const char* does) const {
  const std::string what = std::string(does) + " " + std::to_string(bytes) + " bytes at ";
  const std::string raw =
      what + "address " + std::to_string(address) + " of " + space_text(space) + " memory, outside of everything";
  const Region* near = regions == nullptr ? nullptr : regions->nearest(address);
  if (near == nullptr) fail(FaultKind::illegal_address, raw);
  const bool knows_elements = near->element_bytes != 0;
  fail(FaultKind::illegal_address, what + place_in(*near, address) + ", which has " +
                                       grouped(near->bytes / (knows_elements ? near->element_bytes : 1)) +
                                       (knows_elements ? " elements" : " bytes"));
}

Thread::Place Thread::place(Space space, Word address, unsigned bytes, const char* does) {
  if (space == Space::generic) {
    if (address - kSharedWindow < kWindowBytes) {
      space = Space::shared;
      address -= kSharedWindow;
    } else if (address - kLocalWindow < kWindowBytes) {
      space = Space::local;
      address -= kLocalWindow;
    } else {
      space = Space::global;
    }
  }
  if (address % bytes != 0)
    fail(FaultKind::misaligned, std::string(does) + " " + std::to_string(bytes) + " bytes at address " +
                                    std::to_string(address) + " of " + space_text(space) +
                                    " memory, no multiple of that");
  switch (space) {
    case Space::generic:
    case Space::param: break;
    case Space::global:
    case Space::shared: {
      Regions& regions = space == Space::global ? block_.global() : block_.shared();
      Region* region = regions.find(address, bytes);
      if (region == nullptr) fail_outside(&regions, space, address, bytes, does);
      if (region->touched.empty()) region->touched.resize(region->bytes);
      return {region, address - region->address, false};
    }
    case Space::local: {
      const Word depth = address / kFrameBytes;
      if (depth < frames_.size())
        for (Region& region : frames_[depth].local)
          if (address >= region.address && address + bytes <= region.address + region.bytes)
            return {&region, address - region.address, true};
      fail_outside(nullptr, space, address, bytes, does);
    }
  }
  fail(FaultKind::illegal_address, "no address of that space");
}

void Thread::note_all(Place& found, Word address, unsigned bytes, AccessKind kind) {
  if (found.region->is_constant && (kind == AccessKind::write || kind == AccessKind::atomic))
    fail(FaultKind::illegal_address,
         "writes " + place_in(*found.region, found.region->address + found.offset) + ", which may only be read");
  const Access own = access();
  for (unsigned i = 0; i < bytes; ++i) {
    const std::string conflict = note(*found.region, found.offset + i, own, kind);
    if (conflict.empty()) continue;
    const char* does = kind == AccessKind::write ? "writes " : kind == AccessKind::atomic ? "changes " : "reads ";
    const Word shown = found.region->name.empty() ? address + i : found.region->address + found.offset + i;
    fail(FaultKind::race, does + place_in(*found.region, shown) + ": " + conflict);
  }
}

void Thread::load(Space space, Word address, unsigned bytes, std::uint8_t* into, std::uint8_t* unwritten,
                  bool is_read_only) {
  if (space == Space::param) {
    Frame& frame = frames_.back();
    if (address + bytes > frame.parameters.size()) fail(FaultKind::illegal_address, "reads beyond the parameters");
    std::copy_n(frame.parameters.begin() + static_cast<std::ptrdiff_t>(address), bytes, into);
    std::copy_n(frame.unwritten_parameters.begin() + static_cast<std::ptrdiff_t>(address), bytes, unwritten);
    return;
  }
  Place found = place(space, address, bytes, "reads");
  if (!found.is_own) note_all(found, address, bytes, is_read_only ? AccessKind::read_only : AccessKind::read);
  std::copy_n(found.region->content + found.offset, bytes, into);
  if (found.region->unwritten.empty())
    std::fill_n(unwritten, bytes, std::uint8_t{0});
  else
    std::copy_n(found.region->unwritten.begin() + static_cast<std::ptrdiff_t>(found.offset), bytes, unwritten);
}

void Thread::store(Space space, Word address, unsigned bytes, const std::uint8_t* from, const std::uint8_t* unwritten) {
  if (space == Space::param) {
    Frame& frame = frames_.back();
    if (address + bytes > frame.parameters.size()) fail(FaultKind::illegal_address, "writes beyond the parameters");
    std::copy_n(from, bytes, frame.parameters.begin() + static_cast<std::ptrdiff_t>(address));
    std::copy_n(unwritten, bytes, frame.unwritten_parameters.begin() + static_cast<std::ptrdiff_t>(address));
    return;
  }
  Place found = place(space, address, bytes, "writes");
  if (!found.is_own) note_all(found, address, bytes, AccessKind::write);
  Region& region = *found.region;
  const bool is_lost = std::any_of(unwritten, unwritten + bytes, [](std::uint8_t one) { return one != 0; });
  if (is_lost && (region.unwritten.empty() || region.is_result))
    fail(FaultKind::unwritten, "stores what was never computed, in " + place_in(region, region.address + found.offset));
  if (!region.unwritten.empty())
    std::copy_n(unwritten, bytes, region.unwritten.begin() + static_cast<std::ptrdiff_t>(found.offset));
  std::copy_n(from, bytes, found.region->content + found.offset);
}

// "call (results), function, (arguments)": passes values through the parameters of both functions.
void Thread::call(const Instruction& instruction) {
  const Operand *results = nullptr, *name = nullptr, *arguments = nullptr;
  for (const Operand& operand : instruction.operands) {
    if (operand.kind == OperandKind::function) name = &operand;
    if (operand.kind == OperandKind::vector) (name == nullptr ? results : arguments) = &operand;
  }
  const auto& functions = block_.launch().program->functions;
  const auto found = name == nullptr ? functions.end() : functions.find(name->name);
  if (name != nullptr && name->name == kAssertion) fail(FaultKind::invalid_launch, "an assertion fails");
  if (found == functions.end() || !found->second->is_defined)
    fail(FaultKind::invalid_launch, "calls " +
                                        (name == nullptr ? "a function by its address" : "'" + name->name + "'") +
                                        ", which the interpreter does not know");
  const Function& function = *found->second;
  if ((arguments == nullptr ? 0 : arguments->parts.size()) != function.parameters.size() ||
      (results == nullptr ? 0 : results->parts.size()) != function.results.size())
    fail(FaultKind::invalid_launch, "calls '" + function.name + "' with another number of arguments");
  const Frame caller = frames_.back();
  enter(function);
  Frame& callee = frames_.back();
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const Parameter& to = function.parameters[i];
    const Word from = arguments->parts[i].value;
    if (from + to.bytes > caller.parameters.size()) fail(FaultKind::illegal_address, "passes too little");
    for (std::size_t k = 0; k < to.bytes; ++k) {
      callee.parameters[to.offset + k] = caller.parameters[from + k];
      callee.unwritten_parameters[to.offset + k] = caller.unwritten_parameters[from + k];
    }
  }
}

void Thread::leave() {
  if (frames_.size() == 1) return end();
  const Frame callee = std::move(frames_.back());
  frames_.pop_back();
  Frame& caller = frames_.back();
  values_.resize(callee.registers);
  unwritten_.resize(callee.registers);
  base_ = caller.registers;
  const Instruction& instruction = caller.function->code[caller.next - 1];
  for (std::size_t i = 0; i < callee.function->results.size(); ++i) {
    const Parameter& from = callee.function->results[i];
    const Word to = instruction.operands.front().parts[i].value;
    if (to + from.bytes > caller.parameters.size()) fail(FaultKind::illegal_address, "takes too little");
    for (std::size_t k = 0; k < from.bytes; ++k) {
      caller.parameters[to + k] = callee.parameters[from.offset + k];
      caller.unwritten_parameters[to + k] = callee.unwritten_parameters[from.offset + k];
    }
  }
}

void Thread::end() {
  commit_copies();
  wait_for_copies(0);
  state_ = State::ended;
}

}  // namespace ferry::ptx
