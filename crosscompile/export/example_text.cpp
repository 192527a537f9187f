#include "crosscompile/export/c_text.h"

#include <algorithm>
#include <span>

namespace ferry::exported {
namespace {

using codegen::CArgument;
using codegen::CArgumentKind;

constexpr std::int64_t kExampleSize = 16;

constexpr const char* kBegin = R"(#include "$.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Memory for a tensor or an arena. */
static void* allocate(int64_t bytes) {
  void* memory = aligned_alloc(64, (size_t)((bytes + 63) / 64 * 64));
  if (memory == NULL) exit(2);
  return memset(memory, 0, (size_t)bytes);
}

static void expect(int32_t code) {
  if (code == $_ok) return;
  fprintf(stderr, "$: %s\n", $_message(code));
  exit(1);
}
)";

constexpr const char* kReadWeights = R"(
static void* read_weights(void) {
  void* weights = allocate($_weights_bytes);
  FILE* file = fopen("$.weights", "rb");
  if (file == NULL || fread(weights, 1, $_weights_bytes, file) != $_weights_bytes) exit(3);
  fclose(file);
  return weights;
}
)";

std::string number(std::int64_t value) { return std::to_string(value); }

std::vector<std::int64_t> sizes_of(const FunctionInfo& function, const std::map<std::string, std::int64_t>& given) {
  std::vector<std::int64_t> sizes;
  for (const std::string& symbol : function.symbols) {
    const auto found = given.find(symbol);
    sizes.push_back(found == given.end() ? kExampleSize : found->second);
  }
  return sizes;
}

std::int64_t value_of(const ManifestExpr& expr, std::span<const std::int64_t> sizes) {
  const Result<std::int64_t> value = evaluate(expr, sizes);
  return value.is_ok() ? value.value() : 0;
}

std::int64_t elements_of(const ParameterInfo& parameter, std::span<const std::int64_t> sizes) {
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < parameter.shape.size(); ++d) {
    const std::int64_t extent = value_of(parameter.shape[d], sizes);
    const std::int64_t stride = parameter.strides.empty() ? extent : value_of(parameter.strides[d], sizes);
    if (parameter.strides.empty())
      elements *= extent;
    else
      elements += (extent - 1) * stride;
  }
  return elements;
}

bool is_counted(DType type) { return type != DType::f16 && type != DType::bf16 && type != DType::boolean; }

}  // namespace

std::string example_text(const CodeFacts& facts, const std::map<std::string, std::int64_t>& given) {
  const FunctionInfo& function = facts.function;
  const codegen::CInterface& interface = facts.interface;
  const std::vector<std::int64_t> sizes = sizes_of(function, given);
  std::string text = kBegin;
  if (interface.has_weights_file) text += kReadWeights;
  text +=
      "\nint main(int count, char** words) {\n  const int32_t number = count > 1 ? atoi(words[1]) : 1; /* of threads "
      "*/\n";
  std::string all_sizes, init, run, printing;
  for (const CArgument& argument : interface.sizes) {
    text += "  const int64_t " + argument.name + " = " + number(sizes[argument.index]) + ";\n";
    all_sizes += argument.name + ", ";
  }
  for (const auto* arguments : {&interface.init, &interface.run}) {
    std::string& call = arguments == &interface.init ? init : run;
    for (const CArgument& argument : *arguments) {
      call += ", " + argument.name;
      if (argument.kind == CArgumentKind::size) continue;
      const ParameterInfo& parameter = function.parameters[argument.index];
      if (parameter.kind == ParameterKind::scalar) {
        const bool is_size =
            std::ranges::any_of(interface.sizes, [&](const CArgument& one) { return one.name == argument.name; });
        if (!is_size) text += "  const " + c_type_of(parameter) + " " + argument.name + " = 1;\n";
        continue;
      }
      std::string element = c_type_of(parameter);
      if (element.starts_with("const ")) element.erase(0, 6);
      const std::string elements = number(elements_of(parameter, sizes));
      text += "  " + element + " " + argument.name + " = allocate(" + elements + " * (int64_t)sizeof *" +
              argument.name + ");\n";
      if (parameter.direction != Direction::out && is_counted(parameter.dtype))
        text += "  for (int64_t i = 0; i < " + elements + "; ++i) " + argument.name +
                "[i] = " + (is_float(parameter.dtype) ? "(float)(i % 7) - 3" : "i % 7") + ";\n";
      if (parameter.direction != Direction::in)
        printing += "  for (int64_t i = 0; i < " + elements + " && i < 8; ++i) printf(\"" + argument.name +
                    "[%d] = %g\\n\", (int)i, (double)" + argument.name + "[i]);\n";
    }
  }
  if (interface.has_weights_file) init.insert(0, ", read_weights(), $_weights_bytes");
  text += R"(
  $_threads* threads = NULL;
  if (number > 1) {
    threads = allocate($_threads_bytes(number));
    expect($_threads_start(threads, $_threads_bytes(number), number));
  }
  const int64_t bytes = $_arena_bytes()" +
          all_sizes + R"(number);
  if (bytes < 0) expect((int32_t)bytes);
  $_instance* instance = NULL;
  expect($_init(allocate(bytes), bytes)" +
          init + R"(, threads, &instance));
  expect($_run(instance)" +
          run + R"());
)" + printing +
          R"(  $_threads_stop(threads);
  return 0;
}
)";
  for (std::size_t at = 0; (at = text.find('$', at)) != std::string::npos; at += interface.name.size())
    text.replace(at, 1, interface.name);
  return text;
}

std::string example_file(const codegen::CInterface& interface) {
  return interface.name == "main" ? "example.c" : "main.c";
}

std::string makefile_text(const codegen::CInterface& interface, const std::string& library) {
  const std::string& name = interface.name;
  const std::string threads = library == name + ".o" ? " " + name + "_threads.o" : "";
  // A shared library that is named as a file would be looked for in the folder where the program is started.
  const std::string linked = library.ends_with(".so") ? "-L. -l" + name : library + threads;
  std::string text = "# For another machine: make CC=aarch64-linux-gnu-gcc\nCFLAGS = -std=c11 -O2 -Wall -Wextra\n\n";
  const std::string source = example_file(interface);
  text += "example: " + source + " " + name + ".h " + library + threads + "\n\t$(CC) $(CFLAGS) -o $@ " + source + " " +
          linked + " -pthread -Wl,-rpath,'$$ORIGIN'\n\n";
  text += "run: example\n\t./example\n\nclean:\n\trm -f example\n\n.PHONY: run clean\n";
  return text;
}

}  // namespace ferry::exported
