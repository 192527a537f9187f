#include "host/lang/reference/reference_source.h"

#include "crosscompile/ir/arithmetic.h"
#include "crosscompile/ir/error.h"
#include "host/lang/reference/float_product.h"
#include "host/lang/reference/float_sum.h"
#include "host/lang/reference/tuple_reduction.h"
#include "host/lang/stage.h"

#include <algorithm>
#include <cmath>

namespace ferry::lang {
namespace {

std::uint64_t checked_count(std::span<const std::int64_t> extents, const std::string& name) {
  std::uint64_t count = 1;
  for (const std::int64_t extent : extents) {
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(extent), &count) || count >> 60 != 0) {
      throw CompileError("'" + name + "' has more elements than can be counted");
    }
  }
  return count;
}

}  // namespace

StageSource::StageSource(const Tensor& tensor, const CallValues& call, const FindSource& find)
    : type_(tensor.dtype()), name_(tensor.name()), main_(name_, find), init_(name_, find), bound_(call.bound) {
  const Stage& stage = *tensor.stage();
  call.bind(main_);
  for (const ir::Axis& axis : stage.axes) {
    const std::int64_t extent = call.evaluate(axis.extent);
    if (extent < 0)
      throw CompileError("'" + name_ + "' has the size " + std::to_string(extent) + " in dimension " +
                         std::to_string(extents_.size() + 1));
    extents_.push_back(extent);
    axes_.push_back({0, extent, &main_.bind(axis.var)});
  }
  elements_ = checked_count(extents_, name_);
  const Expr& value = stage.values[tensor.buffer()->component];
  const auto* reduce = value.as<ir::Reduce>();
  if (reduce == nullptr) {
    value_ = &main_.add(value);
    exact_ = value_->exact;
    return;
  }
  reduces_ = true;
  if (!reduce->init.empty()) {
    call.bind(init_);
    for (std::size_t i = 0; i < stage.axes.size(); ++i) {
      init_axes_.push_back({0, extents_[i], &init_.bind(stage.axes[i].var)});
    }
  }
  prepare_axes(*reduce, call);
  if (reduce->reducer->op == ir::ReduceOp::user) {
    prepare_tuple(*reduce);
  } else {
    prepare_reduction(*reduce);
  }
}

StageSource::~StageSource() = default;

void StageSource::prepare_axes(const ir::Reduce& reduce, const CallValues& call) {
  std::vector<std::int64_t> extents;
  for (const ir::Axis& axis : reduce.axes) {
    const std::int64_t extent = std::max<std::int64_t>(0, call.evaluate(axis.extent));
    extents.push_back(extent);
    reduce_axes_.push_back({call.evaluate(axis.min), extent, &main_.bind(axis.var)});
  }
  points_ = checked_count(extents, name_);
  make_point_table();
  if (reduce.condition.defined()) condition_ = &main_.add(reduce.condition);
}

void StageSource::prepare_tuple(const ir::Reduce& reduce) {
  component_ = reduce.component;
  std::vector<const Lanes*> starts, terms;
  for (const Expr& start : reduce.init) starts.push_back(&init_.add(start));
  for (const Expr& source : reduce.sources) terms.push_back(&main_.add(source, condition_));
  tuple_ = std::make_unique<TupleReduction>(*reduce.reducer, name_, std::move(starts), std::move(terms));
  exact_ = tuple_->exact(component_) && (condition_ == nullptr || condition_->exact);
}

void StageSource::prepare_reduction(const ir::Reduce& reduce) {
  op_ = reduce.reducer->op;
  if (!reduce.init.empty()) init_value_ = &init_.add(reduce.init[reduce.component]);
  value_ = &main_.add(reduce.sources[reduce.component], condition_);
  const Expr identity = reduce.reducer->identity[reduce.component];
  if (const auto* integer = identity.as<ir::IntImm>()) {
    identity_.integer = integer->value;
  } else {
    identity_.real = identity.as<ir::FloatImm>()->value;
  }
  const bool rounds = ferry::is_float(type_) && (op_ == ir::ReduceOp::sum || op_ == ir::ReduceOp::prod);
  exact_ = value_->exact && !rounds && (init_value_ == nullptr || init_value_->exact) &&
           (condition_ == nullptr || condition_->exact);
}

void StageSource::fetch(const std::uint64_t* positions, const std::int64_t* mask, std::size_t n, Lanes& out) {
  if (pages_.empty()) pages_.resize(static_cast<std::size_t>((elements_ + kPage - 1) / kPage));
  static constexpr Element kNothing;
  for (std::size_t i = 0; i < n; ++i) {
    const Element* element = mask != nullptr && mask[i] == 0 ? &kNothing : find(positions[i]);
    if (element == nullptr) {
      fetch_missing(positions + i, mask == nullptr ? nullptr : mask + i, n - i);
      element = find(positions[i]);
    }
    out.real[i] = element->real;
    out.integer[i] = element->integer;
    out.error[i] = element->error;
  }
}

void StageSource::fetch_missing(const std::uint64_t* positions, const std::int64_t* mask, std::size_t n) {
  std::array<std::uint64_t, kLanes> missing{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if ((mask != nullptr && mask[i] == 0) || find(positions[i]) != nullptr) continue;
    std::unique_ptr<Page>& page = pages_[static_cast<std::size_t>(positions[i] / kPage)];
    if (page == nullptr) page = std::make_unique<Page>();
    page->known[static_cast<std::size_t>(positions[i] % kPage)] = true;
    missing[count++] = positions[i];
  }
  std::array<Element, kLanes> computed;
  compute(missing.data(), count, computed.data());
  for (std::size_t i = 0; i < count; ++i) {
    pages_[static_cast<std::size_t>(missing[i] / kPage)]->elements[static_cast<std::size_t>(missing[i] % kPage)] =
        computed[i];
  }
}

void StageSource::compute(const std::uint64_t* positions, std::size_t n, Element* out) {
  for (std::size_t done = 0; done < n; done += kLanes) {
    const std::size_t count = std::min(kLanes, n - done);
    if (tuple_ != nullptr) {
      compute_tuple(positions + done, count, out + done);
    } else if (reduces_) {
      compute_reduction(positions + done, count, out + done);
    } else {
      compute_plain(positions + done, count, out + done);
    }
  }
}

void StageSource::fill_places(const std::vector<LoopVariable>& axes, const std::uint64_t* positions, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t rest = positions[i];
    for (std::size_t d = axes.size(); d-- > 0;) {
      const auto extent = static_cast<std::uint64_t>(axes[d].extent);
      axes[d].lanes->integer[i] = static_cast<std::int64_t>(rest % extent);
      rest /= extent;
    }
  }
}

void StageSource::compute_plain(const std::uint64_t* positions, std::size_t n, Element* out) {
  fill_places(axes_, positions, n);
  main_.run(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = {value_->real[i], value_->integer[i], exact_ ? 0 : value_->error[i]};
}

void StageSource::start(const std::uint64_t* positions, std::size_t n, Element* out) {
  if (init_value_ == nullptr) {
    std::fill_n(out, n, identity_);
    return;
  }
  fill_places(init_axes_, positions, n);
  init_.run(n);
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = {init_value_->real[i], init_value_->integer[i], init_value_->exact ? 0 : init_value_->error[i]};
  }
}

void StageSource::fill_same(LoopVariable& variable, std::size_t from, std::size_t count, std::int64_t value) {
  if (variable.everywhere == value) return;
  std::fill_n(variable.lanes->integer.begin() + static_cast<std::ptrdiff_t>(from), count, value);
  variable.everywhere = count == kLanes ? value : -1;
}

void StageSource::make_point_table() {
  constexpr std::uint64_t kMaxPoints = 1 << 20;
  if (points_ > kMaxPoints) return;
  point_table_.resize(static_cast<std::size_t>(points_) * reduce_axes_.size());
  std::uint64_t repeat = points_;
  for (std::size_t d = 0; d < reduce_axes_.size(); ++d) {
    const auto extent = static_cast<std::uint64_t>(reduce_axes_[d].extent);
    if (points_ > 0) repeat /= extent;
    std::int64_t* values = point_table_.data() + d * points_;
    for (std::uint64_t point = 0; point < points_; ++point) {
      values[point] = reduce_axes_[d].min + static_cast<std::int64_t>(point / repeat % extent);
    }
  }
}

void StageSource::fill_points(std::uint64_t position, std::uint64_t point, std::size_t from, std::size_t count) {
  for (std::size_t d = axes_.size(); d-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(axes_[d].extent);
    fill_same(axes_[d], from, count, static_cast<std::int64_t>(position % extent));
    position /= extent;
  }
  if (!point_table_.empty()) {
    for (std::size_t d = 0; d < reduce_axes_.size(); ++d) {
      std::copy_n(point_table_.data() + d * points_ + point, count, reduce_axes_[d].lanes->integer.data() + from);
    }
    return;
  }
  for (std::size_t i = from; i < from + count; ++i, ++point) {
    std::uint64_t rest = point;
    for (std::size_t d = reduce_axes_.size(); d-- > 0;) {
      const auto extent = static_cast<std::uint64_t>(reduce_axes_[d].extent);
      reduce_axes_[d].lanes->integer[i] = reduce_axes_[d].min + static_cast<std::int64_t>(rest % extent);
      rest /= extent;
    }
  }
}

void StageSource::compute_reduction(const std::uint64_t* positions, std::size_t n, Element* out) {
  start(positions, n, out);
  if (points_ == 0) return;
  struct Piece {
    std::size_t element, from, count;
  };
  std::vector<FloatSum> sums(sums_floats() ? n : 0, FloatSum(value_->type, bound_));
  std::vector<FloatProduct> products(multiplies_floats() ? n : 0);
  if (init_value_ != nullptr) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i].add(out[i].real, out[i].error);
    for (std::size_t i = 0; i < products.size(); ++i) products[i].multiply(out[i].real, out[i].error);
  }
  // Fills the lanes with the points of one element after the other; runs the program whenever they are full.
  std::vector<Piece> pieces;
  std::size_t filled = 0;
  const auto flush = [&] {
    main_.run(filled);
    for (const Piece& piece : pieces) {
      if (sums_floats())
        add_terms(sums[piece.element], piece.from, piece.count);
      else if (multiplies_floats())
        multiply_factors(products[piece.element], piece.from, piece.count);
      else
        combine(out[piece.element], piece.from, piece.count);
    }
    pieces.clear();
    filled = 0;
  };
  for (std::size_t e = 0; e < n; ++e) {
    for (std::uint64_t point = 0; point < points_;) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kLanes - filled, points_ - point));
      fill_points(positions[e], point, filled, count);
      pieces.push_back({e, filled, count});
      filled += count;
      point += count;
      if (filled == kLanes) flush();
    }
  }
  if (filled > 0) flush();
  for (std::size_t i = 0; i < sums.size(); ++i) out[i] = sums[i].result(type_);
  for (std::size_t i = 0; i < products.size(); ++i) out[i] = products[i].result(type_);
}

// Processes the same reduction point for many elements at a time, so that each element combines its terms in order.
void StageSource::compute_tuple(const std::uint64_t* positions, std::size_t n, Element* out) {
  fill_places(init_axes_, positions, n);
  init_.run(n);
  tuple_->start(n);
  fill_places(axes_, positions, n);
  for (std::uint64_t point = 0; point < points_; ++point) {
    std::uint64_t rest = point;
    for (std::size_t d = reduce_axes_.size(); d-- > 0;) {
      const auto extent = static_cast<std::uint64_t>(reduce_axes_[d].extent);
      std::fill_n(reduce_axes_[d].lanes->integer.begin(), n,
                  reduce_axes_[d].min + static_cast<std::int64_t>(rest % extent));
      rest /= extent;
    }
    main_.run(n);
    tuple_->add(condition_, n);
  }
  for (std::size_t i = 0; i < n; ++i) out[i] = tuple_->result(component_, i);
}

void StageSource::add_terms(FloatSum& sum, std::size_t from, std::size_t count) const {
  for (std::size_t i = from; i < from + count; ++i) {
    if (condition_ == nullptr || condition_->integer[i] != 0)
      sum.add(value_->real[i], value_->exact ? 0 : value_->error[i]);
  }
}

void StageSource::multiply_factors(FloatProduct& product, std::size_t from, std::size_t count) const {
  for (std::size_t i = from; i < from + count; ++i) {
    if (condition_ == nullptr || condition_->integer[i] != 0)
      product.multiply(value_->real[i], value_->exact ? 0 : value_->error[i]);
  }
}

void StageSource::combine(Element& total, std::size_t from, std::size_t count) {
  ir::BinaryOp op = ir::BinaryOp::add;
  switch (op_) {
    case ir::ReduceOp::sum: op = ir::BinaryOp::add; break;
    case ir::ReduceOp::prod: op = ir::BinaryOp::mul; break;
    case ir::ReduceOp::min: op = ir::BinaryOp::min; break;
    case ir::ReduceOp::max: op = ir::BinaryOp::max; break;
    case ir::ReduceOp::any: op = ir::BinaryOp::logical_or; break;
    case ir::ReduceOp::all: op = ir::BinaryOp::logical_and; break;
    case ir::ReduceOp::user: throw InternalError("reference: a reducer of no known operation");
  }
  for (std::size_t i = from; i < from + count; ++i) {
    if (condition_ != nullptr && condition_->integer[i] == 0) continue;
    const double error = value_->exact ? 0 : value_->error[i];
    if (!ferry::is_float(type_)) {
      total.integer = ir::apply_int(op, type_, total.integer, value_->integer[i]);
      total.error = op == ir::BinaryOp::add ? total.error + error : std::fmax(total.error, error);
      continue;
    }
    total.real = ir::apply_float(op, type_, total.real, value_->real[i]);
    total.error = std::fmax(total.error, error);
  }
}

}  // namespace ferry::lang
