#include "ferry/ops/sorting.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "host/lang/library.h"
#include "host/ops/checks.h"
#include "host/ops/sorting_network.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace ferry::ops {
namespace {

using Index = std::vector<Expr>;
using sorting::with;
using sorting::Words;

constexpr std::int64_t kMaxPasses = 16;
// Groups of fewer elements are no vectors.
constexpr std::int64_t kLeastGroup = 8;
constexpr std::int64_t kIndexMask = 0xffff'ffff;

bool is_wide(DType dtype) { return dtype_bytes(dtype) == 8; }

// Returns an integer, of 64 bits for types of 64 bits and otherwise of 32, that is greater for elements that stand
// first.
Expr priority_of(const Expr& element, bool largest) {
  const DType from = element.type().code, to = is_wide(from) ? DType::i64 : DType::i32;
  const std::int64_t greatest = to == DType::i64 ? INT64_MAX : INT32_MAX;
  const Expr most = ir::constant(to, greatest), least = ir::constant(to, -greatest - 1);
  const auto as_bits = [&](const Expr& value) { return ir::Call::make(to, ir::CallOp::bitcast, {value}); };
  Expr value;
  if (is_float(from)) {
    // Positive floats are ordered as their bits are, negative ones in reverse. Both zeros are equal.
    const Expr bits = as_bits(is_wide(from) ? element : ir::cast(DType::f32, element));
    const Expr zero = ir::constant(to, std::int64_t{0});
    const Expr infinity = ir::constant(to, std::int64_t{is_wide(from) ? 0x7ff0'0000'0000'0000 : 0x7f80'0000});
    value = ir::select(bits < zero, ir::select(bits == least, zero, bits ^ most), bits);
    value = ir::select((bits & most) > infinity, most, value);
  } else if (is_unsigned_int(from) && dtype_bytes(from) == dtype_bytes(to)) {
    value = as_bits(element) ^ least;
  } else {
    value = ir::cast(to, element);
  }
  return largest ? value : ~value;
}

// Words with a priority above the index of its element, of which the greater one stands first.
Words packed_words() {
  return {.of = [](const Expr& priority,
                   const Expr& index) { return (ir::cast(DType::i64, priority) << 32) | (kIndexMask - index); },
          .index = [](const Expr& word) { return kIndexMask - (word & kIndexMask); },
          .filler = [](const Expr&) { return ir::constant(DType::i64, std::numeric_limits<std::int64_t>::min()); },
          .first =
              [](const Index&, const Expr& a, const Expr& b, const Expr& reversed) {
                if (!reversed.defined()) return ir::select(a > b, a, b);
                const Expr mask = ir::select(reversed, ir::constant(DType::i64, std::int64_t{-1}), Expr(0));
                return ir::select((a ^ mask) > (b ^ mask), a, b);
              }};
}

// Words that are indices of priorities of 64 bits.
Words index_words(const Tensor& priorities) {
  const Expr size = priorities.shape().back();
  const auto index = [](const Expr& word) { return ir::select(word < 0, ~word, word); };
  const auto first = [=](const Index& line, const Expr& a, const Expr& b, const Expr& reversed) {
    const auto priority = [&](const Expr& i) {
      return priorities(with(line, {ir::max(ir::min(i, size - 1), Expr(0))}));
    };
    const Expr i = index(a), j = index(b), left = priority(i), right = priority(j);
    const Expr precedes = i < size && (j >= size || left > right || (left == right && i < j));
    const Expr stays = precedes != (a < 0);
    return ir::select(reversed.defined() ? stays != reversed : stays, a, b);
  };
  return {.of = [](const Expr&, const Expr& i) { return i; },
          .index = [](const Expr& word) { return word; },
          .filler = [](const Expr& i) { return i; },
          .first = first,
          .is_cheap = false};
}

class TopK {
 public:
  TopK(const Tensor& x, std::int64_t count, bool largest)
      : x_(x),
        count_(count),
        largest_(largest),
        size_(*ir::as_int(x.shape().back())),
        lead_(x.shape().begin(), x.shape().end() - 1) {}

  Tensor run(const std::string& name) const {
    const auto priority = [&](const Index& line, const Expr& index) {
      return priority_of(x_(with(line, {index})), largest_);
    };
    const std::int64_t group = group_size();
    if (group == 1) return ordered(priority, size_, name);
    const std::int64_t groups = size_ / group;
    const lang::ReduceAxis member = lang::reduce_axis(group, "member");
    const Tensor most = lang::library::compute(
        with(lead_, {Expr(groups)}),
        [&](const Index& i) {
          return lang::max_over(priority(Index(i.begin(), i.end() - 1), i.back() * group + member), {member});
        },
        name + ".most");
    const auto of_group = [&](const Index& line, const Expr& index) { return most(with(line, {index})); };
    const Tensor chosen = ordered(of_group, groups, name + ".groups");
    return of_groups(priority, chosen, group, name);
  }

 private:
  using Priority = std::function<Expr(const Index& line, const Expr& index)>;

  // All of the first elements are in the groups that have the first of the greatest priorities, and in what is left
  // after the last whole group. Returns how many elements a group should have.
  std::int64_t group_size() const {
    if (is_wide(x_.dtype())) return 1;
    std::int64_t group = kLeastGroup;
    const auto elements = [&](std::int64_t of) { return size_ / of + count_ * of; };
    while (elements(2 * group) < elements(group)) group *= 2;
    return elements(group) * 2 < size_ && size_ / group > count_ ? group : 1;
  }

  Words words_of(const Priority& priority, std::int64_t size, const std::string& name) const {
    if (!is_wide(x_.dtype())) return packed_words();
    return index_words(lang::library::compute(
        with(lead_, {Expr(size)}), [&](const Index& i) { return priority(Index(i.begin(), i.end() - 1), i.back()); },
        name + ".priorities"));
  }

  // Returns the indices of the first of these many elements.
  Tensor ordered(const Priority& priority, std::int64_t size, const std::string& name) const {
    const Words words = words_of(priority, size, name);
    const std::int64_t padded = by_passes() ? size : sorting::padded_size(size, count_);
    const Tensor all = lang::library::compute(
        with(lead_, {Expr(padded)}),
        [&](const Index& i) {
          const Index line(i.begin(), i.end() - 1);
          const auto word = [&](const Expr& index) {
            return words.of(is_wide(x_.dtype()) ? Expr() : priority(line, index), index);
          };
          return padded == size ? word(i.back())
                                : ir::if_then_else(i.back() < size, word(i.back()), words.filler(i.back()));
        },
        name + ".words");
    return first_of(words, all, size, name);
  }

  // The same for the elements of chosen groups and those after the last whole group.
  Tensor of_groups(const Priority& priority, const Tensor& chosen, std::int64_t group, const std::string& name) const {
    const Words words = packed_words();
    const std::int64_t whole = size_ / group, rest = size_ % group, size = count_ * group + rest;
    const std::int64_t padded = by_passes() ? size : sorting::padded_size(size, count_);
    const Tensor all = lang::library::compute(
        with(lead_, {Expr((padded + group - 1) / group), Expr(group)}),
        [&](const Index& i) {
          const Index line(i.begin(), i.end() - 2);
          const Expr &row = i[i.size() - 2], &member = i.back(), filler = words.filler({});
          const auto word = [&](const Expr& first) {
            const Expr index = first * group + member;
            return words.of(priority(line, index), index);
          };
          const Expr place = chosen(with(line, {ir::min(row, Expr(count_ - 1))}));
          const Expr of_group = word(ir::min(ir::max(place, Expr(0)), Expr(whole - 1)));
          const Expr left =
              rest == 0 ? filler : ir::if_then_else(row == count_ && member < rest, word(Expr(whole)), filler);
          return ir::if_then_else(row < count_, of_group, left);
        },
        name + ".words");
    return first_of(words, all, size, name);
  }

  bool by_passes() const { return count_ <= kMaxPasses && !is_wide(x_.dtype()); }

  Tensor first_of(const Words& words, const Tensor& all, std::int64_t size, const std::string& name) const {
    return by_passes() ? passes(words, all, name) : sorting::first_by_network(words, all, lead_, size, count_, name);
  }

  // Each word is the greatest of those below the one before it.
  Tensor passes(const Words& words, const Tensor& all, const std::string& name) const {
    const Expr least = words.filler({});
    std::vector<Tensor> found;
    for (std::int64_t p = 0; p < count_; ++p) {
      std::vector<lang::ReduceAxis> axes;
      for (std::size_t d = lead_.size(); d < all.rank(); ++d)
        axes.push_back(lang::reduce_axis(all.shape()[d], "k" + std::to_string(d)));
      found.push_back(lang::library::compute(
          lead_,
          [&](const Index& line) {
            Index at = line;
            at.insert(at.end(), axes.begin(), axes.end());
            return lang::max_over(p == 0 ? all(at) : ir::select(all(at) < found.back()(line), all(at), least), axes);
          },
          name + ".pass" + std::to_string(p)));
    }
    return lang::library::compute(
        with(lead_, {Expr(count_)}),
        [&](const Index& i) {
          const Index line(i.begin(), i.end() - 1);
          Expr word = found.back()(line);
          for (std::size_t p = found.size() - 1; p-- > 0;)
            word = ir::select(i.back() == static_cast<std::int64_t>(p), found[p](line), word);
          return words.index(word);
        },
        name);
  }

  const Tensor& x_;
  std::int64_t count_;
  bool largest_;
  std::int64_t size_;
  Index lead_;
};

}  // namespace

Tensor top_k(const Tensor& x, std::int64_t count, bool largest, std::string name) {
  const std::int64_t* size = x.rank() == 0 ? nullptr : ir::as_int(x.shape().back());
  if (size == nullptr || count < 1 || *size < count || *size > kMaxSortedSize) {
    throw CompileError("'" + name + "': expected a last dimension of a constant size from " + std::to_string(count) +
                       " to " + std::to_string(kMaxSortedSize) + ", got " + shape_text(x));
  }
  return TopK(x, count, largest).run(name);
}

}  // namespace ferry::ops
