// Tests of modules whose code is damaged. The linker may end in a state in which it cannot be used again, so that each
// link is in a process of its own.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "host/kernel/compile_kernel.h"
#include "module/module_file.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/measure/code_layout/linked_code.h"

namespace ferry::test {
namespace {

CompiledModule small_kernel(const std::string& target) {
  KernelOptions options;
  options.expression = "def curve(float(N) A) -> (B) { B(i) = tanh(A(i)) }";
  const KernelSource source = read_kernel(own_compiler(), options);
  return compile_kernel(source, "", own_compiler()->resolve_target(target).value, {}, {}, CodeForm::relinkable).module;
}

std::string message_of(const std::vector<std::uint8_t>& bytes) {
  try {
    (void)own_compiler()->link_module(bytes, {.code = 16});
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing was refused";
}

std::string refusal(const std::vector<std::uint8_t>& bytes) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const std::string message = message_of(bytes).substr(0, 2000);
    _exit(write(ends[1], message.data(), message.size()) == static_cast<ssize_t>(message.size()) ? 0 : 1);
  }
  close(ends[1]);
  char message[2048] = {};
  const ssize_t count = read(ends[0], message, sizeof message - 1);
  close(ends[0]);
  int how = 0;
  REQUIRE(waitpid(child, &how, 0) == child);
  if (!WIFEXITED(how) || WEXITSTATUS(how) != 0) return "the process ended";
  return count < 0 ? "no message" : message;
}

std::string refusal_with_code(const CompiledModule& module, std::vector<std::uint8_t> code) {
  ModuleFile file = read_module(module.bytes()).value();
  file.images[0].bytes = std::move(code);
  return refusal(write_module(file));
}

}  // namespace

TEST_CASE("a module with another hash than it says is refused") {
  const CompiledModule module = small_kernel("x86-64");
  std::vector<std::uint8_t> flipped = module.bytes();
  flipped[flipped.size() / 2] ^= 1;
  CHECK(refusal(flipped).starts_with("the module to link: "));
  CHECK(refusal({}).starts_with("the module to link: "));
}

TEST_CASE("objects that are no archive, for another CPU or without what the plan calls are refused") {
  const CompiledModule module = small_kernel("x86-64");
  const std::vector<std::uint8_t> code = image_of(module, ImageKind::elf_objects);
  CHECK(refusal_with_code(module, {}).starts_with("expected an archive of objects: "));
  CHECK(refusal_with_code(module, std::vector<std::uint8_t>(100, 7)).starts_with("expected an archive of objects: "));
  CHECK(refusal_with_code(module, {code.begin(), code.begin() + 200}).starts_with("expected an archive of objects: "));
  CHECK(refusal_with_code(module, {code.begin(), code.begin() + 8}) ==
        "expected an archive of objects: got one without objects");
  CHECK(refusal_with_code(module, image_of(small_kernel("aarch64"), ImageKind::elf_objects)) ==
        "the module to link: expected an object for x86_64, got one for aarch64");
  ModuleFile renamed = read_module(module.bytes()).value();
  std::get<CallStep>(renamed.manifest.functions[0].plan.steps[0]).symbol = "ferry_fn_line";
  CHECK(refusal(write_module(renamed)) ==
        "the module to link: expected objects that define 'ferry_fn_line', which 'curve' calls, got none");
}

TEST_CASE("damage inside of objects ends no process") {
  const CompiledModule module = small_kernel("x86-64");
  const std::vector<std::uint8_t> code = image_of(module, ImageKind::elf_objects);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < code.size(); at += code.size() / 60) {
    CAPTURE(at);
    std::vector<std::uint8_t> damaged = code;
    damaged[at] ^= 0x55;
    const std::string message = refusal_with_code(module, damaged);
    CHECK(message != "the process ended");
    CHECK(message != "");
    refused += message != "nothing was refused";
  }
  CHECK(refused > 10);
}

}  // namespace ferry::test
