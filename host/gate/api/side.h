// The two modules that the gate compares.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ferry::gate {

enum class Side : std::uint8_t { baseline, current };

inline constexpr std::array kSides = {Side::baseline, Side::current};

constexpr std::size_t index_of(Side side) { return static_cast<std::size_t>(side); }
constexpr const char* name_of(Side side) { return side == Side::baseline ? "baseline" : "current"; }

// One value for each side.
template <class T>
struct PerSide {
  std::array<T, 2> both{};  // baseline, current

  T& operator[](Side side) { return both[index_of(side)]; }
  const T& operator[](Side side) const { return both[index_of(side)]; }
};

}  // namespace ferry::gate
