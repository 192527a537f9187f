#include "host/measure/timed_results.h"

#include <algorithm>
#include <random>

#include "base/quantity_text.h"
#include "ferry/bench/method.h"
#include "host/client/contents.h"
#include "host/lang/reference/reference.h"
#include "host/verify/element_text.h"
#include "host/verify/tolerances.h"
#include "module/manifest.h"

namespace ferry::bench {

namespace {

// Expected results are sent to the device for the comparison: all of them up to so many bytes, otherwise pieces from
// places that are drawn.
constexpr std::uint64_t kMostSent = 1 << 20, kPieces = 16;

bool is_output(const ParameterInfo& parameter) {
  return parameter.kind == ParameterKind::tensor && parameter.direction != Direction::in;
}

struct Part {
  std::uint64_t first = 0, elements = 0;
};

std::vector<Part> parts_of(std::uint64_t elements, std::size_t size, std::uint64_t most_bytes) {
  if (elements * size <= most_bytes) return {{0, elements}};
  std::random_device random;
  const std::uint64_t each = std::max<std::uint64_t>(1, most_bytes / kPieces / size);
  std::vector<Part> parts;
  for (std::uint64_t i = 0; i < kPieces; ++i) {
    const std::uint64_t begin = elements / kPieces * i, room = elements / kPieces - each;
    parts.push_back({begin + (room > 0 ? std::uint64_t{random()} * (room >> 16 | 1) % room : 0), each});
  }
  return parts;
}

std::string text_of(const DeviceTensor& tensor, std::span<const std::uint8_t> element) {
  return verify::element_text(tensor.dtype(), lang::load_element(tensor.dtype(), element.data()));
}

// Rounding may differ where a kernel has its data elsewhere, whatever exactness was asked for.
verify::AppliedLimits limits_of(DType dtype, std::span<const std::uint8_t> bytes,
                                const verify::DifferenceLimits& limits) {
  verify::AppliedLimits most = verify::applied_limits(dtype, bytes, bytes, {});
  most.rtol = std::max(most.rtol, limits.rtol.value_or(0));
  most.atol = std::max(most.atol, limits.atol.value_or(0));
  return most;
}

}  // namespace

void look_at_outputs(const FunctionInfo& info, const SecretSeed& secret, BenchOptions& options) {
  options.poison = secret;
  for (const ParameterInfo& parameter : info.parameters) {
    if (!is_output(parameter)) continue;
    options.poison_rtol = std::max(options.poison_rtol, verify::default_tolerances(parameter.dtype).kernels_rtol);
  }
}

TimedResultsCheck::TimedResultsCheck(const FunctionInfo& info, const std::vector<Argument>& arguments) : info_(info) {
  for (std::size_t p = 0; p < arguments.size(); ++p) {
    const auto* tensor = std::get_if<DeviceTensor>(&arguments[p].value());
    tensors_.push_back(tensor != nullptr ? *tensor : DeviceTensor());
    const bool is_input = tensor != nullptr && info.parameters[p].direction == Direction::in;
    hashes_.push_back(is_input ? session::digest_of(*tensor) : std::nullopt);
  }
}

TimedResults TimedResultsCheck::finish(const Timing& timing, const verify::Outputs* expected) const {
  if (!timing.inspected)
    return {{}, "the server is too old to look at what the timed calls compute, so that was not checked"};
  for (std::size_t p = 0; p < tensors_.size(); ++p) {
    if (hashes_[p] && session::digest_of(tensors_[p]) != hashes_[p])
      return {info_.parameters[p].name + ", which it only reads, has other contents after the timed calls", {}};
  }
  const auto samples = [](std::uint64_t count) { return count_text(count) + (count == 1 ? " sample" : " samples"); };
  if (timing.unwritten > 0) return {samples(timing.unwritten) + " did not write all of the outputs", {}};
  if (timing.changed > 0 && timing.fresh_inputs)
    return {samples(timing.changed) + " computed something else than a second process did from the same inputs", {}};
  if (timing.changed > 0)
    return {samples(timing.changed) + " computed something else than the one before, from the same inputs", {}};
  return {expected != nullptr ? unexpected(*expected) : std::string(), {}};
}

std::string TimedResultsCheck::unexpected(const verify::Outputs& expected) const {
  const auto outputs = static_cast<std::uint64_t>(std::ranges::count_if(info_.parameters, is_output));
  for (std::size_t p = 0; p < tensors_.size(); ++p) {
    const DeviceTensor& tensor = tensors_[p];
    if (!is_output(info_.parameters[p]) || !tensor.strides().empty() || tensor.bytes() == 0) continue;
    const std::size_t size = dtype_bytes(tensor.dtype());
    const std::span<const std::uint8_t> right = expected.at(p);
    const verify::AppliedLimits limits = limits_of(tensor.dtype(), right, {});
    for (const Part& part : parts_of(tensor.elements(), size, kMostSent / outputs)) {
      const auto sent = right.subspan(part.first * size, part.elements * size);
      const auto found = session::compare_with(tensor, part.first, sent, limits.rtol, limits.atol);
      if (!found || found->different == 0) continue;
      const std::uint64_t at = part.first + found->first;
      return verify::position_text(info_.parameters[p].name, tensor.shape(), at) + " is " +
             text_of(tensor, session::read_element(tensor, at)) + " after the timed calls, and " +
             text_of(tensor, right.subspan(at * size, size)) + " in the call that was checked";
    }
  }
  return {};
}

std::string TimedResultsCheck::difference_from(const TimedResultsCheck& other, const verify::ParameterPairs& pairs,
                                               const verify::DifferenceLimits& limits,
                                               const verify::Outputs* expected) const {
  for (const auto& [p, q] : pairs) {
    const DeviceTensor &tensor = tensors_[p], &theirs = other.tensors_[q];
    if (!is_output(info_.parameters[p]) || !tensor.strides().empty() || !theirs.strides().empty()) continue;
    if (tensor.bytes() == 0) continue;
    const std::span<const std::uint8_t> right =
        expected != nullptr ? std::span<const std::uint8_t>(expected->at(p)) : std::span<const std::uint8_t>();
    const verify::AppliedLimits most = limits_of(tensor.dtype(), right, limits);
    const auto found = session::compare_tensors(tensor, theirs, most.rtol, most.atol);
    if (!found || found->different == 0) continue;
    return verify::position_text(info_.parameters[p].name, tensor.shape(), found->first) + " " +
           text_of(tensor, session::read_element(tensor, found->first)) + " against " +
           text_of(theirs, session::read_element(theirs, found->first)) + " after the timed calls (" +
           count_text(found->different) + " of " + count_text(tensor.elements()) + " elements differ)";
  }
  return {};
}

std::string isolation_text(const Timing& timing) {
  if (timing.isolation == TimingIsolation::none)
    return "none: " + (timing.not_isolated.empty() ? "the server is too old for it" : timing.not_isolated);
  const std::string text = to_text(timing.isolation) + ": in a process of its own, timed from outside";
  return timing.not_isolated.empty() ? text : text + "; but " + timing.not_isolated;
}

std::string looked_at_text(const Timing& timing) {
  const std::string samples = "all " + count_text(timing.seconds.size()) + " samples wrote their outputs";
  if (timing.fresh_inputs)
    return samples + ", each call from new inputs" +
           (timing.sets == 0   ? ""
            : timing.sets == 1 ? " in the same tensors"
                               : " in " + std::to_string(timing.sets) + " sets of tensors");
  if (timing.number == 1) return samples;
  return samples + "; of the " + count_text(timing.number) + " calls of a sample, that shows one";
}

std::string checked_text(const TimedChecks& checks) {
  std::string text;
  if (checks.calls > 0) {
    const bool are_all = checks.compared == checks.elements;
    text = count_text(checks.calls) + " of the calls, drawn afterwards, " + (checks.calls == 1 ? "is" : "are") +
           " as defined in " + (are_all ? "all " : count_text(checks.compared) + " of ") + count_text(checks.elements) +
           " elements; 1 of 20 measurements misses it if " + percent_text(checks.seen_share_of_calls()) +
           " of the calls are wrong";
    if (!are_all) text += ", or " + percent_text(checks.seen_share_of_elements()) + " of each call's elements";
  }
  std::vector<std::string> kinds;
  for (const verify::Probe& probe : checks.between) {
    const std::string kind = probe.inputs + (probe.sizes.empty() ? "" : " and " + probe.sizes);
    if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
  }
  if (!kinds.empty())
    text += std::string(text.empty() ? "" : "; ") + "calls between them are, with (" + join("), (", kinds) + ")";
  return text;
}

}  // namespace ferry::bench
