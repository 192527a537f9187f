// Bitonic sorting networks on words of 64 bits, each of which stands for an element of a line.
#pragma once

#include "ferry/lang/tensor.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace ferry::ops::sorting {

using lang::Expr;
using lang::Tensor;

// What words stand for, and which of them stand first. The complements of two words stand in the opposite order.
struct Words {
  std::function<Expr(const Expr& priority, const Expr& index)> of;
  std::function<Expr(const Expr& word)> index;
  // A word that stands after those of all elements.
  std::function<Expr(const Expr& index)> filler;
  // Returns `a` if it stands before `b`, and otherwise `b`; the other way round where `reversed` holds, if it is given.
  std::function<Expr(const std::vector<Expr>& line, const Expr& a, const Expr& b, const Expr& reversed)> first;
  // Whether that takes so few operations that computing it twice is cheaper than storing the words in between.
  bool is_cheap = true;
};

// Returns an index with more dimensions.
std::vector<Expr> with(std::vector<Expr> lead, std::initializer_list<Expr> more);

// The number of words that first_by_network() reads of a line for so many elements.
std::int64_t padded_size(std::int64_t size, std::int64_t count);

// Returns the indices of the first `count` of `size` words of each line in order, with the shape lead + [count].
// `words` has the shape lead + [padded size] or, row by row, lead + [rows, columns] of that size or more.
Tensor first_by_network(const Words& order, const Tensor& words, const std::vector<Expr>& lead, std::int64_t size,
                        std::int64_t count, const std::string& name);

}  // namespace ferry::ops::sorting
