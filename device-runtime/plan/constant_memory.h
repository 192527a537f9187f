// The constants of a module in the memory of its devices.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device-runtime/plan/memory_blocks.h"

namespace ferry::device {

class ConstantMemory {
 public:
  // `known` has one block for each constant of the module's manifest, which names its device; those that are yet to be
  // added have no memory. What it refers to, the devices and what lists them must outlive this.
  ConstantMemory(std::span<Device* const> devices, std::vector<MemoryBlock> known)
      : devices_(devices), copies_(devices), blocks_(std::move(known)), may_be_dropped_(blocks_.size()) {}

  // Whether the constant's device gets a copy of what is added.
  bool copies(std::size_t constant) const { return !devices_[blocks_[constant].device]->uses_host_memory(); }
  bool has(std::size_t constant) const { return blocks_[constant].memory != nullptr; }
  // Adds a constant, whose bytes stay valid for as long as `owner` exists. A device that uses this process's memory
  // reads them where they are; others get a copy and need no owner. `is_mapped_file`: the bytes are a part of a file
  // that is mapped shared and read-only, so that their pages may be dropped and read again.
  Status add(std::size_t constant, std::span<const std::uint8_t> bytes, std::shared_ptr<const void> owner,
             bool is_mapped_file = false);
  // Drops the pages of a constant that has been added here from the process's memory, until they are read again.
  void drop_pages(std::size_t constant) const;
  std::span<const MemoryBlock> blocks() const { return blocks_; }

 private:
  std::span<Device* const> devices_;
  MemoryBlocks copies_;
  std::vector<std::shared_ptr<const void>> owners_;
  std::vector<MemoryBlock> blocks_;
  std::vector<bool> may_be_dropped_;
};

}  // namespace ferry::device
