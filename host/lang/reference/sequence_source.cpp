#include "host/lang/reference/sequence_source.h"

#include "crosscompile/ir/error.h"

#include <algorithm>
#include <array>

namespace ferry::lang {

SequenceSource::SequenceSource(const Tensor& tensor, const CallValues& call, const FindSource& find)
    : type_(tensor.dtype()), name_(tensor.name()), sequence_(*tensor.stage()->sequence), place_(name_, find) {
  const Stage& stage = *tensor.stage();
  const FindSource find_self = [this, find](const ir::BufferRef& buffer) -> ElementSource& {
    return buffer == sequence_.self ? *this : find(buffer);
  };
  for (const Expr& extent : tensor.shape()) extents_.push_back(call.evaluate(extent));
  values_ = std::make_unique<StageSource>(tensor, call, find_self);
  const std::span<const std::int64_t> axes = values_->extents();
  axes_.assign(axes.begin(), axes.end());
  std::uint64_t count = 1;
  for (const std::int64_t extent : extents_) count *= static_cast<std::uint64_t>(std::max<std::int64_t>(extent, 0));
  elements_.resize(static_cast<std::size_t>(count));
  points_ = values_->points();
  if (!sequence_.is_scatter()) return;
  points_ *= 1 + values_->elements() / std::max<std::uint64_t>(count, 1);
  call.bind(place_);
  for (const ir::Axis& axis : stage.axes) place_axes_.push_back(&place_.bind(axis.var));
  for (const Expr& index : sequence_.place) place_indices_.push_back(&place_.add(index));
  before_ = &find(sequence_.before.buffer());
}

void SequenceSource::fetch(const std::uint64_t* positions, const std::int64_t* mask, std::size_t n, Lanes& out) {
  static constexpr Element kNothing;
  // While it runs, only the stage itself reads elements, as they are at that time.
  if (!is_running_) {
    std::int64_t steps = sequence_.is_scatter() ? axes_[sequence_.axis] : 0;
    std::uint64_t inner = 1;
    for (std::size_t d = sequence_.axis + 1; d < axes_.size(); ++d) inner *= static_cast<std::uint64_t>(axes_[d]);
    for (std::size_t i = 0; i < n && !sequence_.is_scatter(); ++i) {
      if (mask != nullptr && mask[i] == 0) continue;
      const auto extent = static_cast<std::uint64_t>(axes_[sequence_.axis]);
      steps = std::max(steps, static_cast<std::int64_t>(positions[i] / inner % extent) + 1);
    }
    run_to(steps);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const bool reads = mask == nullptr || mask[i] != 0;
    const Element& element = reads ? elements_[static_cast<std::size_t>(positions[i])] : kNothing;
    out.real[i] = element.real;
    out.integer[i] = element.integer;
    out.error[i] = element.error;
  }
}

void SequenceSource::compute(const std::uint64_t* positions, std::size_t n, Element* out) {
  run_to(axes_[sequence_.axis]);
  for (std::size_t i = 0; i < n; ++i) out[i] = elements_[static_cast<std::size_t>(positions[i])];
}

void SequenceSource::load_before() {
  std::array<std::uint64_t, kLanes> positions{};
  Lanes lanes(type_);
  for (std::size_t done = 0; done < elements_.size(); done += kLanes) {
    const std::size_t count = std::min(kLanes, elements_.size() - done);
    for (std::size_t i = 0; i < count; ++i) positions[i] = done + i;
    before_->fetch(positions.data(), nullptr, count, lanes);
    for (std::size_t i = 0; i < count; ++i)
      elements_[done + i] = {lanes.real[i], lanes.integer[i], before_->exact() ? 0 : lanes.error[i]};
  }
}

void SequenceSource::run_to(std::int64_t steps) {
  if (is_loaded_ && steps <= steps_) return;
  if (before_ != nullptr && !is_loaded_) load_before();
  is_loaded_ = true;
  is_running_ = true;
  const auto extent = static_cast<std::uint64_t>(axes_[sequence_.axis]);
  std::uint64_t outer = 1, inner = 1;
  for (std::size_t d = 0; d < sequence_.axis; ++d) outer *= static_cast<std::uint64_t>(axes_[d]);
  for (std::size_t d = sequence_.axis + 1; d < axes_.size(); ++d) inner *= static_cast<std::uint64_t>(axes_[d]);
  std::array<std::uint64_t, kLanes> points{};
  std::array<Element, kLanes> values;
  for (; steps_ < steps; ++steps_) {
    for (std::uint64_t done = 0; done < outer * inner; done += kLanes) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kLanes, outer * inner - done));
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t at = done + i;
        points[i] = (at / inner * extent + static_cast<std::uint64_t>(steps_)) * inner + at % inner;
      }
      values_->compute(points.data(), count, values.data());
      store(points.data(), count, values.data());
    }
  }
  is_running_ = false;
}

void SequenceSource::store(const std::uint64_t* points, std::size_t n, const Element* values) {
  if (!sequence_.is_scatter()) {
    for (std::size_t i = 0; i < n; ++i) elements_[static_cast<std::size_t>(points[i])] = values[i];
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t rest = points[i];
    for (std::size_t d = axes_.size(); d-- > 0;) {
      const auto extent = static_cast<std::uint64_t>(axes_[d]);
      place_axes_[d]->integer[i] = static_cast<std::int64_t>(rest % extent);
      rest /= extent;
    }
  }
  place_.run(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t position = 0;
    for (std::size_t d = 0; d < extents_.size(); ++d) {
      const std::int64_t index = place_indices_[d]->integer[i];
      if (index < 0 || index >= extents_[d])
        throw CompileError("'" + name_ + "' is updated at " + std::to_string(index) + " as index " +
                           std::to_string(d + 1) + ", outside its shape");
      position = position * static_cast<std::uint64_t>(extents_[d]) + static_cast<std::uint64_t>(index);
    }
    elements_[static_cast<std::size_t>(position)] = values[i];
  }
}

}  // namespace ferry::lang
