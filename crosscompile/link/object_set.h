// The objects of a module that is linked later, as one file: an archive.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ferry::link {

// As link_shared() takes them.
struct ObjectSet {
  std::vector<std::vector<std::uint8_t>> objects, user_objects;
};

// The same objects give the same bytes.
std::vector<std::uint8_t> pack(const ObjectSet& set);
// Throws CompileError for what pack() does not return.
ObjectSet unpack(std::span<const std::uint8_t> bytes);

}  // namespace ferry::link
