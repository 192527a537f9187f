#include "host/kernel/call_inputs.h"

#include "base/quantity_text.h"

namespace ferry {

namespace {

// Larger uploads are a step of their own for the observer.
constexpr std::uint64_t kLargeUpload = 4u << 20;

}  // namespace

std::vector<std::uint8_t> drawn_bytes(const FunctionInfo& function, const CallPlan& plan, std::size_t parameter,
                                      const InputContent& content) {
  const auto size_of = [&](const std::string& name) -> std::optional<std::int64_t> {
    for (std::size_t s = 0; s < function.symbols.size(); ++s)
      if (function.symbols[s] == name) return plan.symbols[s];
    return std::nullopt;
  };
  return draw(*content.distribution, plan.dtypes[parameter], content.seed,
              static_cast<std::uint64_t>(plan.places[parameter]), size_of);
}

InputContent other_content(const FunctionInfo& function, const CallPlan& plan, std::size_t parameter) {
  InputContent content;
  content.kind = plan.contents[parameter].kind;
  content.distribution = plan.contents[parameter].distribution;
  content.seed = plan.contents[parameter].seed + 0x9e3779b97f4a7c15u;  // far from the seeds of other parameters
  if (content.distribution) content.bytes = drawn_bytes(function, plan, parameter, content);
  return content;
}

std::vector<std::string> input_texts(const FunctionInfo& function, const CallPlan& plan) {
  std::vector<std::string> texts;
  for (std::size_t p = 0; p < function.parameters.size(); ++p) {
    const ParameterInfo& parameter = function.parameters[p];
    if (parameter.kind != ParameterKind::tensor || parameter.direction == Direction::out) continue;
    texts.push_back(parameter.name + ": " + dtype_name(plan.dtypes[p]) + " " +
                    content_text(plan.contents[p], plan.dtypes[p]));
  }
  return texts;
}

Argument make_argument(const FunctionInfo& function, const CallPlan& plan, std::size_t p, const Device& device,
                       const Observer& observer) {
  if (plan.scalars[p]) return std::visit([&](auto number) { return Argument(number); }, *plan.scalars[p]);
  const InputContent& content = plan.contents[p];
  if (!plan.strides[p].empty()) {
    const Shape places = {plan.places[p]};
    const DeviceTensor whole = content.bytes.empty() ? device.filled(plan.dtypes[p], places, content.kind, content.seed)
                                                     : device.put({plan.dtypes[p], places, content.bytes.data()});
    return whole.view(plan.shapes[p], plan.strides[p]);
  }
  if (content.bytes.empty()) return device.filled(plan.dtypes[p], plan.shapes[p], content.kind, content.seed);
  const bool is_large = content.bytes.size() >= kLargeUpload;
  const StepGuard step =
      is_large ? observer.begin("uploading " + function.parameters[p].name + ", " + bytes_text(content.bytes.size()))
               : nullptr;
  return device.put({plan.dtypes[p], plan.shapes[p], content.bytes.data()});
}

std::vector<Argument> make_arguments(const FunctionInfo& function, const CallPlan& plan, const Device& device,
                                     const Observer& observer) {
  std::vector<Argument> arguments;
  for (std::size_t p = 0; p < function.parameters.size(); ++p) {
    if (function.parameters[p].direction != Direction::out)
      arguments.push_back(make_argument(function, plan, p, device, observer));
  }
  return arguments;
}

}  // namespace ferry
