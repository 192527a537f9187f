// The words are taken as the elements of columns, which are sorted side by side. A column's first half of rows and its
// second half, its quarters and so on are exchanged in steps of the network; so vectors along the columns need no
// shuffles. A few columns are cut into parts that lie beside each other as columns do.
#include "host/ops/sorting_network.h"
#include "host/lang/library.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace ferry::ops::sorting {
namespace {

using Index = std::vector<Expr>;

// Fewer columns than this are cut into as many parts.
constexpr std::int64_t kFewColumns = 8;
constexpr std::int64_t kLeastRows = 32;  // columns in parts have at least so many
// More columns than kFewColumns are a multiple of this, so that vectors along them are complete.
constexpr std::int64_t kColumnsTogether = 4;

std::int64_t quotient_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t rows_for(std::int64_t count) {
  return std::max(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count))), std::int64_t{2});
}
std::int64_t whole_columns(std::int64_t least) {
  return least < kFewColumns ? least : quotient_up(least, kColumnsTogether) * kColumnsTogether;
}
std::int64_t columns_for(std::int64_t size, std::int64_t rows) { return whole_columns(quotient_up(size, rows)); }
std::int64_t columns_after(std::int64_t columns) { return whole_columns(quotient_up(columns, 2)); }

// Columns of words, stored as lead + [rows / parts / (2 * distance), 2, distance, columns * parts]. Row i of a column
// is row i % (rows / parts) of its part i / (rows / parts).
struct Columns {
  Tensor words;
  std::int64_t columns = 0, parts = 0, distance = 0;

  // Returns the word in a row of all parts, at a place along the columns and their parts.
  Expr at(const Index& line, const Expr& row, const Expr& place) const {
    return words(with(line, {row / (2 * distance), row / distance % 2, row % distance, place}));
  }
};

// The indices of a word in such columns.
struct Place {
  Index line;
  Expr block, half, row, along;
};

class Network {
 public:
  Network(const Words& order, const Index& lead, std::int64_t rows, std::string name)
      : order_(order), lead_(lead), rows_(rows), name_(std::move(name)) {}

  // Returns the first `rows` words, sorted, of those that the tensor has row by row.
  Columns run(const Tensor& words, std::int64_t columns) {
    Columns all = split(words, columns);
    for (std::int64_t sorted = 2; sorted <= rows_; sorted *= 2) all = merged(all, sorted);
    while (all.columns > 1) all = merged(first_halves(all), rows_);
    return all;
  }

  // Returns the word in a row of a column.
  Expr at(const Columns& all, const Index& line, const Expr& row, const Expr& column) const {
    const std::int64_t rows = rows_ / all.parts;
    return all.at(line, row % rows, column * all.parts + row / rows);
  }

 private:
  std::int64_t parts_of(std::int64_t columns) const {
    return columns < kFewColumns && rows_ >= kLeastRows ? kFewColumns : 1;
  }

  template <class Word>
  Columns made(std::int64_t columns, std::int64_t distance, const Word& word) {
    Columns result{{}, columns, parts_of(columns), distance};
    result.words = lang::library::compute(
        with(lead_,
             {Expr(rows_ / result.parts / (2 * distance)), Expr(2), Expr(distance), Expr(columns * result.parts)}),
        [&](const Index& i) {
          const std::size_t n = lead_.size();
          return word(
              Place{Index(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(n)), i[n], i[n + 1], i[n + 2], i[n + 3]});
        },
        name_ + ".step" + std::to_string(steps_++));
    return result;
  }

  // Those columns whose words will be compared with the ones of columns before them hold complements, and so become
  // sorted in the opposite order.
  Expr stored(const Expr& word, std::int64_t columns, const Expr& along) const {
    if (columns == 1) return word;
    const Expr kept = ir::constant(DType::i64, std::int64_t{0}), inverted = ir::constant(DType::i64, std::int64_t{-1});
    return word ^ ir::select(along < columns_after(columns) * parts_of(columns), kept, inverted);
  }

  Columns split(const Tensor& words, std::int64_t columns) {
    const std::int64_t width = columns * parts_of(columns), distance = rows_ / parts_of(columns) / 2;
    const bool in_rows = words.rank() > lead_.size() + 1;
    return made(columns, distance, [&](const Place& to) {
      const Expr place = (to.half * distance + to.row) * width + to.along, &row_size = words.shape().back();
      const Expr word = words(in_rows ? with(to.line, {place / row_size, place % row_size}) : with(to.line, {place}));
      return stored(word, columns, to.along);
    });
  }

  // Sorts blocks of this many rows, of which either half is sorted in the opposite order. All are then sorted in turns
  // in either order, or in one if there is one block.
  Columns merged(Columns all, std::int64_t sorted) {
    const std::int64_t rows = rows_ / all.parts;
    for (std::int64_t distance = sorted / 2; distance > 0;) {
      const bool is_double = order_.is_cheap && distance < rows && distance >= 2;
      all = distance >= rows ? exchanged_parts(all, distance / rows, sorted)
            : is_double      ? exchanged_twice(all, distance, sorted)
                             : exchanged(all, distance, sorted);
      distance /= is_double ? 4 : 2;
    }
    return all;
  }

  // Whether the words of a block stand in the opposite order; nothing if none do.
  Expr is_reversed(const Expr& is_second, std::int64_t sorted, std::int64_t parts, const Expr& row,
                   const Expr& along) const {
    if (sorted == rows_) return is_second;
    const std::int64_t rows = rows_ / parts;
    return is_second != ((sorted < rows ? row / sorted : along / (sorted / rows)) % 2 == 1);
  }

  Columns exchanged(const Columns& from, std::int64_t distance, std::int64_t sorted) {
    return made(from.columns, distance, [&](const Place& to) {
      const Expr row = (to.block * 2 + to.half) * distance + to.row;
      const Expr other = (to.block * 2 + (1 - to.half)) * distance + to.row;
      return order_.first(to.line, from.at(to.line, row, to.along), from.at(to.line, other, to.along),
                          is_reversed(to.half == 1, sorted, from.parts, row, to.along));
    });
  }

  // Exchanges words that are `distance` apart, and then those that are half as far apart.
  Columns exchanged_twice(const Columns& from, std::int64_t distance, std::int64_t sorted) {
    const std::int64_t near = distance / 2;
    return made(from.columns, near, [&](const Place& to) {
      const Expr opposite = to.block / 2 * 2 + (1 - to.block % 2);
      const auto row_at = [&](const Expr& block, const Expr& half) { return (block * 2 + half) * near + to.row; };
      const Expr row = row_at(to.block, to.half);
      const auto reversed = [&](const Expr& is_second) {
        return is_reversed(is_second, sorted, from.parts, row, to.along);
      };
      const auto exchanged_at = [&](const Expr& half) {
        return order_.first(to.line, from.at(to.line, row_at(to.block, half), to.along),
                            from.at(to.line, row_at(opposite, half), to.along), reversed(to.block % 2 == 1));
      };
      return order_.first(to.line, exchanged_at(to.half), exchanged_at(1 - to.half), reversed(to.half == 1));
    });
  }

  // Exchanges words of parts that are this many apart.
  Columns exchanged_parts(const Columns& from, std::int64_t apart, std::int64_t sorted) {
    return made(from.columns, from.distance, [&](const Place& to) {
      const Expr row = (to.block * 2 + to.half) * from.distance + to.row;
      const Expr second = to.along / apart % 2;
      const Expr other = to.along / (2 * apart) * (2 * apart) + (1 - second) * apart + to.along % apart;
      return order_.first(to.line, from.at(to.line, row, to.along), from.at(to.line, row, other),
                          is_reversed(second == 1, sorted, from.parts, row, to.along));
    });
  }

  // Of two columns in opposite orders, the first of both words of each row are those that stand first in both columns.
  // Along a column they rise and then fall.
  Columns first_halves(const Columns& from) {
    const std::int64_t columns = columns_after(from.columns), pairs = from.columns - columns;
    const std::int64_t parts = parts_of(columns), distance = rows_ / parts / 2;
    return made(columns, distance, [&](const Place& to) {
      const Expr row = to.half * distance + to.row;
      const auto word = [&](std::int64_t first) {
        const std::int64_t last = from.columns * from.parts - 1;
        if (parts == from.parts) {
          const Expr along = to.along + first * parts;
          return from.at(to.line, row, first + columns > from.columns ? ir::min(along, Expr(last)) : along);
        }
        const Expr column = to.along / parts + first;
        return at(from, to.line, to.along % parts * (rows_ / parts) + row,
                  first + columns > from.columns ? ir::min(column, Expr(from.columns - 1)) : column);
      };
      const Expr own = word(0), first = order_.first(to.line, own, ~word(columns), {});
      return stored(pairs == columns ? first : ir::select(to.along < pairs * parts, first, own), columns, to.along);
    });
  }

  const Words& order_;
  const Index& lead_;
  std::int64_t rows_;
  std::string name_;
  int steps_ = 0;
};

}  // namespace

Index with(Index lead, std::initializer_list<Expr> more) {
  lead.insert(lead.end(), more);
  return lead;
}

std::int64_t padded_size(std::int64_t size, std::int64_t count) {
  const std::int64_t rows = rows_for(count);
  return rows * columns_for(size, rows);
}

Tensor first_by_network(const Words& order, const Tensor& words, const Index& lead, std::int64_t size,
                        std::int64_t count, const std::string& name) {
  Network network(order, lead, rows_for(count), name);
  const Columns sorted = network.run(words, columns_for(size, rows_for(count)));
  return lang::library::compute(
      with(lead, {Expr(count)}),
      [&](const Index& i) { return order.index(network.at(sorted, Index(i.begin(), i.end() - 1), i.back(), Expr(0))); },
      name);
}

}  // namespace ferry::ops::sorting
