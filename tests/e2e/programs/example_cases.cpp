// Cases for the numbered examples under their schedules, at the sizes in the schedules' lines "# try --fn F --size
// M=13,...". The reference evaluator supplies the expected results.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "crosscompile/compile.h"
#include "ferry/lang/text.h"
#include "host/lang/reference/reference.h"
#include "host/lower/signature.h"
#include "tests/e2e/programs/program_case.h"
#include "tests/support/examples.h"

namespace ferry::test {

namespace {

// "--fn F", "--size M=3,N=5" and "--arg alpha=2", as on the command line.
struct Try {
  std::string function;
  std::map<std::string, double> numbers;

  explicit Try(const std::string& line) {
    std::istringstream words(line);
    for (std::string option, value; words >> option >> value;) {
      if (option == "--fn") function = value;
      std::istringstream pairs(option == "--fn" ? "" : value);
      for (std::string pair; std::getline(pairs, pair, ',');)
        numbers[pair.substr(0, pair.find('='))] = std::stod(pair.substr(pair.find('=') + 1));
    }
  }
};

std::vector<std::int64_t> symbols_at(const FunctionInfo& info, const Try& sizes) {
  std::vector<std::int64_t> symbols;
  for (const std::string& symbol : info.symbols) symbols.push_back(static_cast<std::int64_t>(sizes.numbers.at(symbol)));
  return symbols;
}

std::vector<Data> arguments_at(const FunctionInfo& info, const Try& sizes) {
  const std::vector<std::int64_t> symbols = symbols_at(info, sizes);
  std::vector<Data> arguments;
  std::uint64_t seed = 400;
  for (const ParameterInfo& parameter : info.parameters) {
    if (parameter.direction == Direction::out) continue;
    if (parameter.kind == ParameterKind::scalar) {
      arguments.push_back(scalar_data(parameter.dtype, sizes.numbers.at(parameter.name)));
      continue;
    }
    std::vector<std::int64_t> shape, strides;
    for (const ManifestExpr& extent : parameter.shape) shape.push_back(evaluate(extent, symbols).value());
    for (const ManifestExpr& stride : parameter.strides) strides.push_back(evaluate(stride, symbols).value());
    arguments.push_back(strides.empty() ? random_data(parameter.dtype, shape, ++seed)
                                        : view_data(parameter.dtype, shape, strides, ++seed));
  }
  return arguments;
}

std::vector<Expected> evaluated(const lang::Program& program, const FunctionInfo& info,
                                const std::vector<std::int64_t>& symbols, const std::vector<Data>& arguments) {
  std::vector<std::vector<std::uint8_t>> memory(info.parameters.size());
  std::vector<const void*> pointers;
  for (std::size_t p = 0, next = 0; p < memory.size(); ++p) {
    if (info.parameters[p].direction != Direction::out) memory[p] = to_bytes(arguments.at(next++));
    pointers.push_back(memory[p].empty() ? nullptr : memory[p].data());
  }
  const lang::Reference reference(program, symbols, pointers);
  std::vector<Expected> results;
  for (std::size_t p = 0; p < memory.size(); ++p) {
    if (info.parameters[p].direction == Direction::in) continue;
    const DType type = info.parameters[p].dtype;
    Expected expected;
    expected.result = empty_data(type, reference.shape(p));
    for (std::uint64_t i = 0; i < reference.elements(p); ++i) {
      const lang::Element element = reference.evaluate(p, i);
      expected.result.values[i] = is_float(type) ? element.real : static_cast<double>(element.integer);
      expected.scale.push_back(2 * element.error + (is_float(type) ? 1e-6 * std::abs(element.real) : 0));
    }
    results.push_back(std::move(expected));
  }
  return results;
}

}  // namespace

std::vector<ProgramCase> example_cases() {
  std::vector<ProgramCase> cases;
  for (const std::filesystem::path& file : example_files(".schedule")) {
    const std::string name = file.stem().string(), schedule = text_of(file);
    if (!lines_of(schedule, "target").empty()) continue;  // not for a CPU
    const std::vector<lang::Program> programs = lang::parse(text_of(kernel_of(file)), name + ".tc");
    for (const std::string& line : lines_of(schedule, "try")) {
      const Try sizes(line);
      const auto program = std::find_if(programs.begin(), programs.end(), [&](const lang::Program& candidate) {
        return sizes.function.empty() || candidate.name == sizes.function;
      });
      const FunctionInfo info = describe_function(lower::signature_of(*program));
      ProgramCase example{name + " " + line,
                          "",
                          arguments_at(info, sizes),
                          [program = *program, info, symbols = symbols_at(info, sizes)](const auto& arguments) {
                            return evaluated(program, info, symbols, arguments);
                          },
                          1,
                          *program};
      example.schedule = schedule;
      for (const std::string& knob : lines_of(schedule, "knob"))
        example.knobs[knob.substr(0, knob.find('='))] = knob.substr(knob.find('=') + 1);
      cases.push_back(std::move(example));
    }
  }
  return cases;
}

}  // namespace ferry::test
