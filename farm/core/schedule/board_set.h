// A set of boards, by their indexes. A farm has up to tens of thousands of boards, and a scheduler asks all the time
// whether a request could get one that is free: with a bit for each board that takes a fraction of a microsecond.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ferry::farm {

class BoardSet {
 public:
  void set(std::size_t board, bool is_member = true) {
    if (board / 64 >= words_.size()) words_.resize(board / 64 + 1);
    const std::uint64_t bit = std::uint64_t{1} << (board % 64);
    words_[board / 64] = is_member ? words_[board / 64] | bit : words_[board / 64] & ~bit;
  }
  void add(const BoardSet& other) {
    if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
    for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  }
  bool contains(std::size_t board) const { return (word(board / 64) >> (board % 64) & 1U) != 0; }
  bool is_empty() const {
    return std::all_of(words_.begin(), words_.end(), [](std::uint64_t bits) { return bits == 0; });
  }
  std::size_t size() const {
    std::size_t count = 0;
    for (const std::uint64_t bits : words_) count += static_cast<std::size_t>(std::popcount(bits));
    return count;
  }
  bool intersects(const BoardSet& other) const {
    const std::size_t count = std::min(words_.size(), other.words_.size());
    // In blocks, so that the compiler uses vectors.
    constexpr std::size_t kBlock = 16;
    for (std::size_t start = 0; start < count; start += kBlock) {
      std::uint64_t common = 0;
      for (std::size_t i = start; i < std::min(start + kBlock, count); ++i) common |= words_[i] & other.words_[i];
      if (common != 0) return true;
    }
    return false;
  }

  // 64 boards from 64 * index on; zero beyond the end.
  std::uint64_t word(std::size_t index) const { return index < words_.size() ? words_[index] : 0; }
  std::size_t word_count() const { return words_.size(); }

 private:
  std::vector<std::uint64_t> words_;
};

// Calls visit(board) for the boards of both sets in ascending order, until it returns true. Returns whether it did.
template <class Visit>
bool visit_common(const BoardSet& a, const BoardSet& b, Visit visit) {
  const std::size_t count = std::min(a.word_count(), b.word_count());
  for (std::size_t i = 0; i < count; ++i) {
    for (std::uint64_t bits = a.word(i) & b.word(i); bits != 0; bits &= bits - 1)
      if (visit(static_cast<std::uint32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(bits))))) return true;
  }
  return false;
}

}  // namespace ferry::farm
