// Sources of elements for the reference evaluator: the caller's memory, or computing them.
#pragma once

#include "crosscompile/ir/expr.h"
#include "ferry/lang/tensor.h"
#include "host/lang/reference/lane_program.h"
#include "host/lang/reference/reference.h"

#include <bitset>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ferry::lang {

class MemorySource : public ElementSource {
 public:
  // `data` must outlive this object; it is dense when there are no strides. The error of subnormal elements that may
  // be flushed to 0 is their magnitude.
  MemorySource(DType type, std::vector<std::int64_t> extents, const void* data, std::vector<std::int64_t> strides = {},
               bool may_flush = false)
      : type_(type),
        extents_(std::move(extents)),
        strides_(std::move(strides)),
        data_(static_cast<const std::byte*>(data)),
        may_flush_(may_flush) {}

  std::span<const std::int64_t> extents() const override { return extents_; }
  bool exact() const override { return !may_flush_; }
  void fetch(const std::uint64_t* positions, const std::int64_t* mask, std::size_t n, Lanes& out) override;

 private:
  void load(const std::uint64_t* positions, const std::int64_t* mask, std::size_t n, Lanes& out) const;
  // Converts positions in row-major order to offsets in memory.
  void spread(const std::uint64_t* positions, std::size_t n, std::uint64_t* places) const;

  DType type_;
  std::vector<std::int64_t> extents_, strides_;
  const std::byte* data_;
  bool may_flush_;
};

// The values of a call: sizes and scalar arguments.
struct CallValues {
  struct Value {
    Expr variable;
    std::int64_t integer = 0;
    double real = 0;
  };
  std::vector<Value> values;
  std::shared_ptr<const Context> context;  // may be null
  RoundingBound bound = RoundingBound::worst_case;

  void bind(LaneProgram& program) const;
  // Evaluates an expression over these values.
  std::int64_t evaluate(const Expr& expr) const;
};

// Returns the values of a call's sizes and scalars; the parameters are as of Reference. Throws InternalError for other
// numbers of them than the program has.
CallValues values_of_call(const Program& program, std::span<const std::int64_t> symbols,
                          std::span<const void* const> arguments, RoundingBound bound);

// A computed tensor.
class ComputedSource : public ElementSource {
 public:
  // Computes these elements. fetch() caches what it computes.
  virtual void compute(const std::uint64_t* positions, std::size_t n, Element* out) = 0;
  virtual std::uint64_t elements() const = 0;
  // Number of points of the reduction for each element; 1 without a reduction.
  virtual std::uint64_t points() const = 0;
};

class FloatProduct;
class FloatSum;
class TupleReduction;

// One output of a stage. Computes blocks of elements, at many points of the output and the reduction at once.
class StageSource : public ComputedSource {
 public:
  // The constructor finds the sources of all tensors that the stage reads.
  StageSource(const Tensor& tensor, const CallValues& call, const FindSource& find);
  ~StageSource() override;

  std::span<const std::int64_t> extents() const override { return extents_; }
  bool exact() const override { return exact_; }
  // Computes missing elements and caches them.
  void fetch(const std::uint64_t* positions, const std::int64_t* mask, std::size_t n, Lanes& out) override;
  // Computes without caching.
  void compute(const std::uint64_t* positions, std::size_t n, Element* out) override;

  std::uint64_t elements() const override { return elements_; }
  std::uint64_t points() const override { return points_; }

 private:
  struct LoopVariable {
    std::int64_t min = 0, extent = 0;
    Lanes* lanes = nullptr;
    // The value that all lanes hold; -1 when they differ or are not filled yet.
    std::int64_t everywhere = -1;
  };
  static constexpr std::size_t kPage = 4096;
  struct Page {
    std::bitset<kPage> known;
    std::array<Element, kPage> elements;
  };

  void compute_plain(const std::uint64_t* positions, std::size_t n, Element* out);
  void compute_reduction(const std::uint64_t* positions, std::size_t n, Element* out);
  void compute_tuple(const std::uint64_t* positions, std::size_t n, Element* out);
  // Fills the lanes of the axis variables with the indices of these elements.
  static void fill_places(const std::vector<LoopVariable>& axes, const std::uint64_t* positions, std::size_t n);
  void start(const std::uint64_t* positions, std::size_t n, Element* out);
  // Fills the loop variables of lanes [from, from + count) with `count` points of element `position`, starting at
  // `point`.
  void fill_points(std::uint64_t position, std::uint64_t point, std::size_t from, std::size_t count);
  static void fill_same(LoopVariable& variable, std::size_t from, std::size_t count, std::int64_t value);
  void make_point_table();
  void fetch_missing(const std::uint64_t* positions, const std::int64_t* mask, std::size_t n);
  // Returns null if the element is not cached.
  const Element* find(std::uint64_t position) const {
    const Page* page = pages_[static_cast<std::size_t>(position / kPage)].get();
    const auto at = static_cast<std::size_t>(position % kPage);
    return page != nullptr && page->known[at] ? &page->elements[at] : nullptr;
  }
  // Whether the elements are sums or products of floats.
  bool sums_floats() const { return op_ == ir::ReduceOp::sum && ferry::is_float(type_); }
  bool multiplies_floats() const { return op_ == ir::ReduceOp::prod && ferry::is_float(type_); }
  void add_terms(FloatSum& sum, std::size_t from, std::size_t count) const;
  void multiply_factors(FloatProduct& product, std::size_t from, std::size_t count) const;
  void combine(Element& total, std::size_t from, std::size_t count);
  void prepare_axes(const ir::Reduce& reduce, const CallValues& call);
  void prepare_reduction(const ir::Reduce& reduce);
  void prepare_tuple(const ir::Reduce& reduce);

  DType type_;
  std::string name_;
  std::vector<std::int64_t> extents_;
  std::uint64_t elements_ = 1, points_ = 1;
  bool exact_ = false;

  LaneProgram main_, init_;
  std::vector<LoopVariable> axes_, init_axes_, reduce_axes_;
  // Value of each reduction variable at each point, one variable after the other; empty if there are too many.
  std::vector<std::int64_t> point_table_;
  const Lanes* value_ = nullptr;      // the value, or the reduction's source
  const Lanes* condition_ = nullptr;  // condition of the reduction; null: always true
  const Lanes* init_value_ = nullptr;
  std::unique_ptr<TupleReduction> tuple_;  // for a user's reducer, instead of the values above
  std::size_t component_ = 0;
  ir::ReduceOp op_ = ir::ReduceOp::sum;
  RoundingBound bound_;
  Element identity_;
  bool reduces_ = false;

  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace ferry::lang
