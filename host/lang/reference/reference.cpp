#include "host/lang/reference/reference.h"

#include "crosscompile/ir/error.h"
#include "host/lang/reference/reference_source.h"
#include "host/lang/reference/sequence_source.h"
#include "host/lang/stages.h"

#include <map>
#include <unordered_map>

namespace ferry::lang {

struct Reference::State {
  struct Known {
    DType type = DType::f32;
    std::vector<std::int64_t> shape;
    std::uint64_t elements = 0;
    ComputedSource* stage = nullptr;  // only outputs have one
    double work = 0;
  };

  CallValues call;
  std::unordered_map<const ir::Buffer*, std::unique_ptr<ElementSource>> sources;
  std::vector<Known> parameters;

  Known& output(std::size_t parameter) {
    Known& known = parameters.at(parameter);
    if (known.stage == nullptr)
      throw InternalError("reference: parameter " + std::to_string(parameter) + " is no output");
    return known;
  }

  std::vector<std::int64_t> evaluate_each(const std::vector<Expr>& sizes) const {
    std::vector<std::int64_t> values;
    for (const Expr& size : sizes) values.push_back(call.evaluate(size));
    return values;
  }
  std::vector<std::int64_t> shape_of(const Tensor& tensor) const { return evaluate_each(tensor.shape()); }
  std::vector<std::int64_t> strides_of(const Tensor& tensor) const { return evaluate_each(tensor.buffer()->strides); }
};

Reference::Reference(const Program& program, std::vector<std::int64_t> symbols, std::vector<const void*> arguments,
                     RoundingBound bound)
    : state_(std::make_unique<State>()) {
  state_->call = values_of_call(program, symbols, arguments, bound);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Parameter& parameter = program.parameters[i];
    if (parameter.kind != ParameterKind::tensor || parameter.direction == Direction::out) continue;
    const Tensor& input = parameter.direction == Direction::in ? parameter.tensor : parameter.initial;
    const bool may_flush =
        bound == RoundingBound::exact && smallest_error(input.dtype()) >= smallest_normal(input.dtype());
    state_->sources[input.buffer().get()] = std::make_unique<MemorySource>(
        input.dtype(), state_->shape_of(input), arguments[i], state_->strides_of(input), may_flush);
  }
  const FindSource find = [this_state = state_.get()](const ir::BufferRef& buffer) -> ElementSource& {
    return *this_state->sources.at(buffer.get());
  };
  std::unordered_map<const ir::Buffer*, double> own_work;
  for (const Tensor& tensor : computed_tensors(program)) {
    std::unique_ptr<ComputedSource> source;
    if (tensor.stage()->sequence != nullptr)
      source = std::make_unique<SequenceSource>(tensor, state_->call, find);
    else
      source = std::make_unique<StageSource>(tensor, state_->call, find);
    own_work[tensor.buffer().get()] =
        static_cast<double>(source->elements()) * static_cast<double>(std::max<std::uint64_t>(1, source->points()));
    state_->sources[tensor.buffer().get()] = std::move(source);
  }
  for (const Parameter& parameter : program.parameters) {
    State::Known known;
    if (parameter.kind == ParameterKind::tensor) {
      known.type = parameter.tensor.dtype();
      known.shape = state_->shape_of(parameter.tensor);
      known.elements = 1;
      for (const std::int64_t extent : known.shape) known.elements *= static_cast<std::uint64_t>(extent);
      if (parameter.direction != Direction::in) {
        known.stage = static_cast<ComputedSource*>(state_->sources.at(parameter.tensor.buffer().get()).get());
        for (const Tensor& needed : tensors_required_by({parameter.tensor}).computed)
          known.work += own_work[needed.buffer().get()];
      }
    }
    state_->parameters.push_back(std::move(known));
  }
}

Reference::~Reference() = default;
Reference::Reference(Reference&&) noexcept = default;
Reference& Reference::operator=(Reference&&) noexcept = default;

RoundingBound Reference::bound() const { return state_->call.bound; }
const std::vector<std::int64_t>& Reference::shape(std::size_t parameter) const {
  return state_->parameters.at(parameter).shape;
}
std::uint64_t Reference::elements(std::size_t parameter) const { return state_->parameters.at(parameter).elements; }
double Reference::work(std::size_t parameter) const { return state_->parameters.at(parameter).work; }

std::vector<Element> Reference::evaluate(std::size_t parameter, std::span<const std::uint64_t> positions) const {
  State::Known& known = state_->output(parameter);
  for (const std::uint64_t position : positions) {
    if (position >= known.elements)
      throw InternalError("reference: element " + std::to_string(position) + " of " + std::to_string(known.elements));
  }
  std::vector<Element> elements(positions.size());
  known.stage->compute(positions.data(), positions.size(), elements.data());
  return elements;
}

Element Reference::evaluate(std::size_t parameter, std::uint64_t position) const {
  return evaluate(parameter, std::span<const std::uint64_t>(&position, 1))[0];
}

std::vector<std::byte> Reference::evaluate_all(std::size_t parameter) const {
  const State::Known& known = state_->output(parameter);
  const std::size_t size = dtype_bytes(known.type);
  std::vector<std::byte> bytes(static_cast<std::size_t>(known.elements) * size);
  std::vector<std::uint64_t> positions;
  for (std::uint64_t first = 0; first < known.elements; first += kLanes) {
    positions.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kLanes, known.elements - first)));
    for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = first + i;
    const std::vector<Element> elements = evaluate(parameter, positions);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      store_element(known.type, elements[i], bytes.data() + (static_cast<std::size_t>(first) + i) * size);
    }
  }
  return bytes;
}

}  // namespace ferry::lang
