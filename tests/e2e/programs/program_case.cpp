#include "tests/e2e/programs/program_case.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "ferry/lang/text.h"
#include "ferry/schedule/default_schedule.h"
#include "ferry/schedule/module_schedule.h"

namespace ferry::test {

Expected each(DType dtype, std::vector<std::int64_t> shape,
              const std::function<Element(const std::vector<std::int64_t>&)>& element) {
  Expected expected;
  expected.result = empty_data(dtype, std::move(shape));
  std::vector<std::int64_t> index(expected.result.shape.size(), 0);
  for (double& value : expected.result.values) {
    const Element computed = element(index);
    value = computed.value;
    expected.scale.push_back(computed.scale);
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < expected.result.shape[d]) break;
      index[d] = 0;
    }
  }
  return expected;
}

std::vector<ProgramCase> all_cases() {
  std::vector<ProgramCase> all;
  for (const auto& cases :
       {expression_cases(), operator_cases(), reducer_cases(),   gather_cases(),   stride_cases(),
        math_cases(),       notation_cases(), library_cases(),   elements_cases(), update_cases(),
        sequence_cases(),   layer_cases(),    blocked_cases(),   integer_cases(),  pairs_of_bytes_cases(),
        winograd_cases(),   schedule_cases(), tensorize_cases(), tile_cases(),     extern_cases(),
        type_cases(),       sorting_cases(),  axis_cases(),      example_cases(),  byte_product_cases()})
    all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

std::vector<Argument> arguments_of(const ProgramCase& program, std::vector<std::vector<std::uint8_t>>& bytes) {
  std::vector<Argument> arguments;
  for (const Data& data : program.arguments) {
    if (data.is_scalar && !is_float(data.dtype)) {
      arguments.emplace_back(static_cast<std::int64_t>(data.values[0]));
    } else if (data.is_scalar) {
      arguments.emplace_back(data.values[0]);
    } else {
      bytes.push_back(to_bytes(data));
      arguments.emplace_back(View{data.dtype, data.shape, bytes.back().data(), data.strides});
    }
  }
  return arguments;
}

lang::Program program_of(const ProgramCase& program) {
  return program.built ? *program.built : lang::parse(program.source, "case.tc").at(0);
}

schedule::Schedule schedule_of(const ProgramCase& program, const lang::Program& meaning, const Target& target) {
  if (program.schedule.empty()) return autoschedule::default_schedule(meaning, target);
  std::string text = program.schedule;
  if (text.find('\n') == std::string::npos) std::replace(text.begin(), text.end(), ';', '\n');
  return autoschedule::replay_module_schedule(std::span(&meaning, 1), {text, program.knobs, program.name}, target)
      .at(0);
}

void check_result(const ProgramCase& program, const Expected& expected, const std::vector<std::uint8_t>& bytes,
                  const std::string& what) {
  const std::vector<double> got = from_bytes(expected.result.dtype, bytes);
  REQUIRE(got.size() == expected.result.values.size());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double want = expected.result.values[i];
    const double allowed = program.tolerance * expected.scale[i];
    if (got[i] == want || std::abs(got[i] - want) <= allowed || (std::isnan(got[i]) && std::isnan(want))) continue;
    if (++wrong <= 3) {
      FAIL_CHECK(what << ", element " << i << ": expected " << want << " within " << allowed << ", got " << got[i]);
    }
  }
  CHECK(wrong == 0);
}

}  // namespace ferry::test
