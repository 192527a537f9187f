#include "host/kernel/input_content.h"

namespace ferry {

std::optional<Distribution> distribution_of(const ParameterInfo& parameter, const ArgumentSpec* spec,
                                            InputRange range) {
  if (spec != nullptr && spec->distribution) return spec->distribution;
  const bool is_described = spec != nullptr && (spec->has_contents || !spec->file.empty());
  const bool is_input = parameter.kind == ParameterKind::tensor && parameter.direction != Direction::out;
  if (range == InputRange::narrow || is_described || !is_input) return std::nullopt;
  return Distribution{DistributionKind::full, {}};
}

std::string content_text(const InputContent& content, DType dtype) {
  if (!content.file.empty()) return "from " + content.file;
  if (content.distribution) return range_text(*content.distribution, dtype);
  switch (content.kind) {
    case FillKind::zeros: return "zeros";
    case FillKind::ones: return "ones";
    case FillKind::iota: return "0, 1, 2, ...";
    case FillKind::random: break;
  }
  if (is_float(dtype)) return "from -1 to 1";
  if (dtype == DType::boolean) return "from 0 to 1";
  const bool is_signed = dtype_name(dtype)[0] == 'i';
  return is_signed ? "from -8 to 7" : "from 0 to 15";
}

}  // namespace ferry
