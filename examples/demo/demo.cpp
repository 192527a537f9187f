// Compiles a few kernels for every server named on the command line, uploads, runs, checks and times them there, and
// prints one table.
//
//   demo KERNEL_FOLDER NAME=HOST:PORT[,emulated] ...
//
// Exits with 1 if a result is wrong or a device fails.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "examples/demo/kernels.h"
#include "ferry/compile.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Server {
  std::string name;
  std::string address;
  bool emulated = false;
};

struct Row {
  double compile_ms = 0, upload_ms = 0, largest_error = 0, median_ms = 0;
  std::size_t module_bytes = 0;
  bool right = false;
};

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Server parse_server(const std::string& text) {
  const std::size_t equals = text.find('='), comma = text.find(',');
  if (equals == std::string::npos) throw std::runtime_error("expected NAME=HOST:PORT[,emulated], got " + text);
  return {text.substr(0, equals), text.substr(equals + 1, comma - equals - 1), comma != std::string::npos};
}

// Inputs are filled on the device; this computes the same bits here.
std::vector<std::vector<float>> inputs_of(const demo::Kernel& kernel) {
  std::vector<std::vector<float>> inputs;
  for (const demo::Shape& shape : kernel.inputs) {
    std::size_t count = 1;
    for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
    inputs.emplace_back(count);
    ferry::fill(ferry::FillKind::random, inputs.size(), ferry::DType::f32, 0, count, inputs.back().data());
  }
  return inputs;
}

// Rounding may cost half a unit in the last place for each of an element's terms, plus a few for exp and division.
void compare(const std::vector<float>& got, const demo::Expected& expected, int terms, Row& row) {
  constexpr double kUnit = 1.0 / (1 << 24);
  row.right = got.size() == expected.values.size();
  for (std::size_t i = 0; row.right && i < got.size(); ++i) {
    const double error = std::abs(got[i] - expected.values[i]);
    row.right = error <= (terms + 8) * kUnit * expected.scales[i];
    row.largest_error = std::max(row.largest_error, error);
  }
}

Row run(const ferry::Device& device, bool emulated, const demo::Kernel& kernel, const demo::Expected& expected) {
  Row row;
  auto start = Clock::now();
  const ferry::CompiledModule compiled = ferry::compile(kernel.source, ferry::target_of(device), kernel.name + ".tc");
  row.compile_ms = ms_since(start);
  row.module_bytes = compiled.bytes().size();

  start = Clock::now();
  ferry::Module module = device.load(compiled);
  module.wait();
  row.upload_ms = ms_since(start);

  std::vector<ferry::Argument> arguments;
  for (const demo::Shape& shape : kernel.inputs) {
    arguments.emplace_back(device.filled(ferry::DType::f32, shape, ferry::FillKind::random, arguments.size() + 1));
  }
  const ferry::Function function = module[kernel.name];
  compare(function.call(arguments).at(0).to_vector<float>(), expected, kernel.terms, row);
  if (emulated) {
    row.median_ms = static_cast<double>(function.last_elapsed_ns()) * 1e-6;
  } else {
    row.median_ms = function.measure(arguments, {1, 15, 5, 5}).median() * 1e3;
  }
  return row;
}

}  // namespace

int main(int count, char** words) try {
  if (count < 3) {
    fprintf(stderr, "usage: demo KERNEL_FOLDER NAME=HOST:PORT[,emulated] ...\n");
    return 2;
  }
  const std::vector<demo::Kernel> kernels = demo::kernels(words[1]);
  std::vector<demo::Expected> expected;
  for (const demo::Kernel& kernel : kernels) expected.push_back(kernel.expected(inputs_of(kernel)));

  bool all_right = true;
  printf("%-9s %-18s %10s %12s %9s %13s %11s\n", "target", "kernel", "compile ms", "module bytes", "upload ms",
         "largest error", "median ms");
  for (int i = 2; i < count; ++i) {
    const Server server = parse_server(words[i]);
    const ferry::Device device = ferry::connect(server.address);
    ferry::compile(kernels[0].source, ferry::target_of(device));  // keeps the compiler's one-time work out of the times
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const Row row = run(device, server.emulated, kernels[k], expected[k]);
      all_right = all_right && row.right;
      printf("%-9s %-18s %10.1f %12zu %9.2f %13.1e %11.3f%s%s\n", server.name.c_str(), kernels[k].label.c_str(),
             row.compile_ms, row.module_bytes, row.upload_ms, row.largest_error, row.median_ms,
             server.emulated ? "  emulated" : "", row.right ? "" : "  WRONG");
      fflush(stdout);
    }
  }
  printf(all_right ? "All results agree with loops over doubles.\n" : "Some results are wrong.\n");
  return all_right ? 0 : 1;
} catch (const std::exception& error) {
  fflush(stdout);
  fprintf(stderr, "demo: %s\n", error.what());
  return 1;
}
