// Tests of modules that are linked in several layouts: that code and data move as they should, and nothing else
// changes.
#include "host/measure/code_layout.h"

#include <doctest/doctest.h>

#include <chrono>
#include <ctime>
#include <set>
#include <stdexcept>

#include "host/compiler/llvm/network.h"
#include "host/kernel/compile_kernel.h"
#include "module/module_file.h"
#include "module/step_description.h"
#include "tests/paths.h"
#include "tests/support/architectures/architectures.h"
#include "tests/support/listening_server.h"
#include "tests/support/networks/mixed_network.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/measure/code_layout/linked_code.h"
#include "tests/unit/host/measure/code_layout/sample_kernels.h"

namespace ferry::bench {
namespace {

using namespace ferry::test;

const Compiler& compiler() { return *own_compiler(); }

CompiledModule compiled(const KernelSource& source, const Target& target, const CallOptions& call, CodeForm form) {
  return compile_kernel(source, "", target, call, {}, form).module;
}

std::vector<std::uint8_t> result_of(const Device& device, const CompiledModule& module, const CallOptions& call) {
  const FunctionInfo& info = module.manifest().functions.front();
  const Function function = device.load(module)[info.name];
  std::vector<std::uint8_t> bytes;
  for (const DeviceTensor& output : function.call(make_arguments(info, plan_call(info, call), device, {}))) {
    std::vector<std::uint8_t> one(output.bytes());
    output.read(one.data());
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  return bytes;
}

// Names what is not moved by this many bytes, modulo a page.
std::string wrongly_moved(const std::map<std::string, std::uint64_t>& from,
                          const std::map<std::string, std::uint64_t>& to, std::uint64_t bytes) {
  std::string wrong;
  for (const auto& [name, address] : from) {
    if (!to.contains(name))
      wrong += name + " is missing; ";
    else if ((to.at(name) - address) % kLayoutPage != bytes % kLayoutPage)
      wrong += name + " is moved by " + std::to_string(to.at(name) - address) + "; ";
  }
  return wrong;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + " ";
  return text;
}

void check_layout(const CompiledModule& linked, const CompiledModule& moved, const CodeLayout& layout) {
  CAPTURE(layout.code);
  CAPTURE(layout.data);
  const std::vector<std::uint8_t> from = image_of(linked), to = image_of(moved);
  const Symbols before = symbols_of(from), after = symbols_of(to);
  CHECK(!before.functions.empty());
  CHECK(before.functions.size() == after.functions.size());
  CHECK(wrongly_moved(before.functions, after.functions, layout.code) == "");
  CHECK(wrongly_moved(before.constants, after.constants, layout.data) == "");
  CHECK(wrongly_moved(before.variables, after.variables, layout.data) == "");
  const auto instructions = instructions_of(from);
  CHECK(instructions.size() >= before.functions.size());
  const auto others = instructions_of(to);
  for (const auto& [function, text] : instructions) {
    CAPTURE(function);
    REQUIRE(others.contains(function));
    CHECK(joined(others.at(function)) == joined(text));
  }
}

void check_all_kinds(const Device& device, const Target& target) {
  const Folder folder;
  for (const SampleKernel& sample : sample_kernels(folder, target)) {
    CAPTURE(sample.name);
    CAPTURE(target.text);
    const KernelSource source = read_kernel(own_compiler(), sample.kernel);
    const CompiledModule linked = compiled(source, target, sample.call, CodeForm::linked);
    const CompiledModule relinkable = compiled(source, target, sample.call, CodeForm::relinkable);
    CHECK(layouts_of(linked) == 1);
    REQUIRE(layouts_of(relinkable) == kLayouts);
    CHECK(relinkable.source() == linked.source());
    CHECK(relinkable.schedule() == linked.schedule());
    CHECK(relinkable.steps().size() == linked.steps().size());
    CHECK(signature_text(relinkable.manifest().functions.front()) ==
          signature_text(linked.manifest().functions.front()));
    CHECK(compiler().link_module(relinkable.bytes(), {}) == linked.bytes());
    CHECK(module_in_layout(own_compiler(), relinkable, 0).bytes() == linked.bytes());
    CHECK(compiler().code_identity(relinkable.bytes()) == compiler().code_identity(linked.bytes()));
    const std::vector<std::uint8_t> expected = result_of(device, linked, sample.call);
    for (const std::uint32_t number : {1U, 22U, 63U}) {
      CAPTURE(number);
      const CompiledModule moved = module_in_layout(own_compiler(), relinkable, number);
      CHECK(moved.bytes() != linked.bytes());
      CHECK(module_in_layout(own_compiler(), relinkable, number).bytes() == moved.bytes());
      check_layout(linked, moved, layout_of(number));
      CHECK(result_of(device, moved, sample.call) == expected);
    }
  }
}

CompiledModule small_kernel(CodeForm form = CodeForm::relinkable, const std::string& target = "host") {
  KernelOptions options;
  options.expression = "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }";
  return compiled(read_kernel(own_compiler(), options), compiler().resolve_target(target).value, {{}, {"N=1000"}},
                  form);
}

// Lines of a page, which follow each other round.
std::uint32_t largest_gap(const std::set<std::uint32_t>& lines) {
  std::uint32_t gap = *lines.begin() + kLayouts - *lines.rbegin();
  for (auto next = std::next(lines.begin()); next != lines.end(); ++next) gap = std::max(gap, *next - *std::prev(next));
  return gap;
}

}  // namespace

TEST_CASE("the layouts are spread evenly over a page, from the first on") {
  CHECK(layout_of(0) == CodeLayout{});
  std::set<std::uint32_t> lines, data;
  std::map<std::uint32_t, int> steps;
  for (std::uint32_t number = 0; number < kLayouts; ++number) {
    const CodeLayout layout = layout_of(number);
    CHECK(layout.code % kCodeStep == 0);
    CHECK(layout.code < kLayoutPage);
    CHECK(layout.data % kDataStep == 0);
    CHECK(layout.data < kLayoutPage);
    lines.insert(layout.code / kDataStep);
    data.insert(layout.data / kDataStep);
    ++steps[layout.code % kDataStep];
    if (number + 1 != 8 && number + 1 != 16 && number + 1 != 32) continue;
    // No gap between the first layouts is larger than twice the average.
    CHECK(largest_gap(lines) <= 2 * kLayouts / (number + 1));
    CHECK(largest_gap(data) <= 2 * kLayouts / (number + 1));
  }
  CHECK(lines.size() == kLayouts);
  CHECK(data.size() == kLayouts);
  CHECK(steps == std::map<std::uint32_t, int>{{0, 16}, {16, 16}, {32, 16}, {48, 16}});
  CHECK_THROWS_AS((void)layout_of(kLayouts), std::out_of_range);
}

TEST_CASE("every kind of kernel computes the same in each layout") {
  const Device device = local_device();
  check_all_kinds(device, compiler().target_of(device.facts()));
}

TEST_SUITE_BEGIN("emulated");

TEST_CASE("every kind of kernel computes the same in each layout, on every architecture") {
  for (const std::string arch : {"armv7", "aarch64", "riscv64"}) {
    CAPTURE(arch);
    const ListeningServer server(std::string(FERRY_SOURCE_DIR) + "/build/device/" + arch + "/static/rpc_server",
                                 emulator_of(arch));
    check_all_kinds(connect(server.address(), {}), compiler().resolve_target(arch).value);
  }
}

TEST_SUITE_END();

TEST_CASE("a small kernel is soon linked in all layouts") {
  const CompiledModule module = small_kernel(), linked = small_kernel(CodeForm::linked);
  const Device device = local_device();
  const CallOptions call{{}, {"N=1000"}};
  const std::vector<std::uint8_t> expected = result_of(device, linked, call);
  std::vector<CompiledModule> all;
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t processor = std::clock();
  for (std::uint32_t number = 0; number < kLayouts; ++number)
    all.push_back(module_in_layout(own_compiler(), module, number));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  const double busy = static_cast<double>(std::clock() - processor) * 1000 / CLOCKS_PER_SEC;
  MESSAGE("a layout takes ", took.count() / kLayouts, " ms, of the processor ", busy / kLayouts, " ms; relinkable ",
          module.bytes().size(), " bytes, linked ", linked.bytes().size(), " bytes");
  std::set<std::vector<std::uint8_t>> different;
  for (const CompiledModule& one : all) {
    different.insert(one.bytes());
    CHECK(result_of(device, one, call) == expected);
  }
  CHECK(different.size() == kLayouts);
}

TEST_CASE("source lines are found in every layout") {
  const Folder folder;
  const Target target = compiler().resolve_target("host").value;
  for (const SampleKernel& sample : sample_kernels(folder, target)) {
    if (sample.name != "lines" && sample.name != "C") continue;
    CAPTURE(sample.name);
    const CompiledModule module =
        compiled(read_kernel(own_compiler(), sample.kernel), target, sample.call, CodeForm::relinkable);
    const std::vector<std::uint8_t> before = image_of(module_in_layout(own_compiler(), module, 0));
    const std::vector<std::uint8_t> after = image_of(module_in_layout(own_compiler(), module, 5));
    const std::string name = sample.name == "C" ? "mix" : "ferry_fn_mm";
    const std::string line = compiler().source_line(before, symbols_of(before).functions.at(name));
    CAPTURE(line);
    CHECK(line.find(sample.name == "C" ? "mix.c:" : "kernel.tc:1") != std::string::npos);
    CHECK(compiler().source_line(after, symbols_of(after).functions.at(name)) == line);
  }
}

TEST_CASE("a layout with other numbers is refused") {
  const CompiledModule module = small_kernel();
  const auto refuse = [&](const CodeLayout& layout, const char* message) {
    CHECK_THROWS_WITH_AS((void)compiler().link_module(module.bytes(), layout), message, CompileError);
  };
  refuse({.code = 17}, "expected an offset of code that is a multiple of 16 below 65536, got 17");
  refuse({.code = 65536}, "expected an offset of code that is a multiple of 16 below 65536, got 65536");
  refuse({.data = 48}, "expected an offset of data that is a multiple of 64 below 65536, got 48");
  refuse({.data = 4294967232}, "expected an offset of data that is a multiple of 64 below 65536, got 4294967232");
  CHECK(compiler().link_module(module.bytes(), {.code = 65520, .data = 65472}).size() > 65520);
}

TEST_CASE("a module whose layout is fixed has one layout, and stays as it is") {
  const CompiledModule linked = small_kernel(CodeForm::linked), gpu = small_kernel(CodeForm::relinkable, "opencl");
  for (const CompiledModule& module : {linked, gpu}) {
    CHECK(layouts_of(module) == 1);
    CHECK(module_in_layout(own_compiler(), module, 7).bytes() == module.bytes());
  }
  CHECK(gpu.bytes() == small_kernel(CodeForm::linked, "opencl").bytes());
  CHECK_THROWS_WITH_AS((void)compiler().link_module(linked.bytes(), {}),
                       "the module to link: expected code of the kind 'elf-objects', got 'elf', whose layout is fixed",
                       CompileError);
}

TEST_CASE("a module for a GPU and the CPU beside it has layouts of the CPU's code") {
  const Target target = compiler().resolve_target("opencl -host=x86-64-v3").value;
  const std::shared_ptr<const Network> network = make_network(mixed_network(1999));
  const CompiledModule linked(network->compile({.target = target}).module);
  const CompiledModule module(network->compile({.target = target, .form = CodeForm::relinkable}).module);
  CHECK(layouts_of(module) == kLayouts);
  CHECK(module_in_layout(own_compiler(), module, 0).bytes() == linked.bytes());
  const auto images = [](const CompiledModule& from) { return read_module(from.bytes()).value().images; };
  const std::vector<CodeImage> before = images(linked), after = images(module_in_layout(own_compiler(), module, 9));
  REQUIRE(before.size() > 1);
  REQUIRE(after.size() == before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    CAPTURE(before[i].kind);
    CHECK(after[i].kind == before[i].kind);
    CHECK((after[i].bytes != before[i].bytes) == (before[i].kind == ImageKind::elf));
  }
}

TEST_CASE("a shared object stays linked") {
  const Folder folder;
  const std::string c = folder.file("f.c", "void f(float* x) { x[0] = 1; }\n"), library = folder.path("f.so");
  REQUIRE(std::system(("clang-19 -shared -fPIC -nostdlib -Wl,--hash-style=both -o " + library + " " + c).c_str()) == 0);
  KernelOptions options;
  options.file = library;
  options.signature = "f(inout f32[1] x)";
  const KernelSource source = read_kernel(own_compiler(), options);
  const Target target = compiler().resolve_target("host").value;
  const CompiledModule module = compiled(source, target, {}, CodeForm::relinkable);
  CHECK(layouts_of(module) == 1);
  CHECK(module.bytes() == compiled(source, target, {}, CodeForm::linked).bytes());
}

}  // namespace ferry::bench
