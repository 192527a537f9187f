#include "crosscompile/foreign/sanitized_run.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "crosscompile/codegen/llvm/target/adapter.h"
#include "crosscompile/confine/run_confined.h"
#include "crosscompile/foreign/c_compiler.h"
#include "crosscompile/foreign/c_function.h"
#include "crosscompile/ir/c_type_name.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/target/resolve.h"

namespace ferry::foreign {
namespace {

constexpr const char* kSanitize = "-fsanitize=address,undefined";
// Exit codes of the program when a sanitizer ends it, and when the kernel returns failure.
constexpr int kFound = 99, kFailed = 98;
constexpr const char* kProgram = "kernel";
// The program may take kOwnMemory beside its tensors and print kReportBytes, of which kShownBytes are shown.
constexpr std::uint64_t kOwnMemory = std::uint64_t{1} << 30;
constexpr std::uint64_t kReportBytes = std::uint64_t{1} << 20;
constexpr std::size_t kShownBytes = std::size_t{1} << 18;

std::string input_file(std::size_t parameter) { return "in" + std::to_string(parameter); }
std::string output_file(std::size_t parameter) { return "out" + std::to_string(parameter); }

// Generates a program that reads the tensors from files, calls the function, and writes the tensors back. Its command
// line has for each parameter the bits of a scalar, or the size of a tensor in bytes, the file to read and, if the
// function writes it, the one to write, and then all sizes. It declares the C library functions that it
// needs itself, because the kernel is compiled without the library's headers.
std::string main_program(const Signature& signature, const std::string& symbol) {
  const FunctionInfo& function = signature.function;
  std::string types, values, before, after;
  std::size_t words = 1;  // the first is the program
  const auto next_word = [&] { return "words[" + std::to_string(words++) + "]"; };
  const auto pass = [&](const std::string& type, const std::string& value) {
    types += (types.empty() ? "" : ", ") + type;
    values += (values.empty() ? "" : ", ") + value;
  };
  for (std::size_t p = 0; p < function.parameters.size(); ++p) {
    const ParameterInfo& parameter = function.parameters[p];
    const std::string name = "a" + std::to_string(p), type = ir::c_type_name(parameter.dtype);
    if (parameter.kind == ParameterKind::scalar) {
      before += "  unsigned long long b" + std::to_string(p) + " = number(" + next_word() + ");\n  " + type + " " +
                name + ";\n  memcpy(&" + name + ", &b" + std::to_string(p) + ", sizeof " + name + ");\n";
      continue;
    }
    const std::string bytes = "number(" + next_word() + ")";
    // Sanitizer reports name the place where the memory was allocated.
    before += "#line 1 \"the tensor " + parameter.name + "\"\n  void* " + name + " = take(" + bytes + ", " +
              next_word() + ");\n";
    if (parameter.direction != Direction::in) after += "  give(" + name + ", " + bytes + ", " + next_word() + ");\n";
  }
  for (const codegen::PassedArgument& argument : signature.passed) {
    const std::string type = ir::c_type_name(argument.dtype), name = "a" + std::to_string(argument.index);
    if (argument.is_size) {
      pass(type, "(" + type + ")number(words[" + std::to_string(words + argument.index) + "])");
    } else {
      pass(function.parameters[argument.index].kind == ParameterKind::tensor ? "void*" : type, name);
    }
  }
  const std::string result = signature.returns_status ? "int" : "void";
  return "#include <stdbool.h>\n#include <stdint.h>\ntypedef __SIZE_TYPE__ size_t;\nvoid* fopen(const char*, const "
         "char*);\nint fclose(void*);\n"
         "size_t fread(void*, size_t, size_t, void*);\nsize_t fwrite(const void*, size_t, size_t, void*);\n"
         "int posix_memalign(void**, size_t, size_t);\nvoid* memcpy(void*, const void*, size_t);\n"
         "unsigned long long strtoull(const char*, char**, int);\nvoid exit(int);\n" +
         result + " ferry_kernel(" + (types.empty() ? "void" : types) + ") __asm__(\"" + symbol +
         "\");\n"
         "static unsigned long long number(const char* text) { return strtoull(text, 0, 10); }\n"
         "static inline __attribute__((always_inline)) void* take(size_t bytes, const char* file) {\n"
         "  void* memory = 0;\n  if (posix_memalign(&memory, 64, bytes) != 0) exit(97);\n"
         "  void* from = fopen(file, \"rb\");\n"
         "  if (!from || fread(memory, 1, bytes, from) != bytes) exit(97);\n  fclose(from);\n  return memory;\n}\n"
         "static void give(const void* memory, size_t bytes, const char* file) {\n"
         "  void* to = fopen(file, \"wb\");\n"
         "  if (!to || fwrite(memory, 1, bytes, to) != bytes || fclose(to) != 0) exit(97);\n}\n"
         "int main(int count, char** words) {\n" +
         before + "#line 1 \"the call\"\n" +
         (signature.returns_status
              ? "  if (ferry_kernel(" + values + ") != 0) return " + std::to_string(kFailed) + ";\n"
              : "  ferry_kernel(" + values + ");\n") +
         after + "  return 0;\n}\n";
}

// Returns the main line of the report, or how the program ended without one: "f.c:5:10: runtime error: ..." or
// "heap-buffer-overflow f.c:5:3 in saxpy".
std::string gist_of(const std::string& report, int code) {
  const std::string summary = "SUMMARY: AddressSanitizer: ", error = ": runtime error: ";
  std::size_t begin = report.find(error);
  if (begin != std::string::npos) {
    begin = report.rfind('\n', begin);
    begin = begin == std::string::npos ? 0 : begin + 1;
  } else if (begin = report.find(summary); begin != std::string::npos) {
    begin += summary.size();
  } else {
    if (code == kFound) return "ended by a sanitizer";
    if (code == 128 + SIGXFSZ) return "the program wrote a file that is larger than its tensors";
    return code > 128 ? "signal " + std::to_string(code - 128) + " ended the program"
                      : "the program ended itself with code " + std::to_string(code);
  }
  return report.substr(begin, report.find('\n', begin) - begin);
}

}  // namespace

SanitizedKernel::SanitizedKernel(const ForeignKernel& kernel, const Signature& signature)
    : function_(signature.function) {
  if (!has_syntax(kernel.file)) {
    throw CompileError(kernel.file + ": expected C or C++, which clang's sanitizers can watch, got machine code");
  }
  const Target target = resolve_target("host");
  const link::ObjectFacts facts =
      link::inspect_object(compile_object(kernel.file, kernel.flags, target), kernel.file, target);
  const std::string symbol = find_function(facts, kernel, signature);
  check_declaration(declarations_of(kernel, target), kernel, signature, symbol);

  const std::string object = folder_.file("kernel.o"), main = folder_.file("main.c");
  link::write_file(object, compile_sanitized(kernel.file, kernel.flags, target, kSanitize));
  link::write_file(main, main_program(signature, symbol));
  link_program({main, object, kSanitize, "-g", "-O1", "-w", "-lm"}, kProgram, folder_);
}

std::string SanitizedKernel::program() const { return folder_.file(kProgram); }

SanitizedCall::SanitizedCall(std::shared_ptr<const SanitizedKernel> kernel,
                             const std::vector<SanitizedArgument>& arguments, const std::vector<std::int64_t>& symbols)
    : kernel_(std::move(kernel)), function_(kernel_->function()), words_{kernel_->program()} {
  for (std::size_t p = 0; p < arguments.size(); ++p) {
    if (function_.parameters[p].kind == ParameterKind::scalar) {
      words_.push_back(std::to_string(arguments[p].scalar_bits));
      continue;
    }
    link::write_file(folder_.file(input_file(p)), arguments[p].bytes);
    bytes_ += arguments[p].bytes.size();
    words_.push_back(std::to_string(arguments[p].bytes.size()));
    words_.push_back(folder_.file(input_file(p)));
    if (function_.parameters[p].direction != Direction::in) words_.push_back(folder_.file(output_file(p)));
  }
  for (const std::int64_t size : symbols) words_.push_back(std::to_string(size));
}

SanitizedCall::End SanitizedCall::run_program(double deadline) const {
  const std::string report = folder_.file("report"), memory = std::to_string((bytes_ * 4 + kOwnMemory) >> 20);
  confine::ConfinedProgram program{.words = words_};
  program.environment = {"ASAN_OPTIONS=exitcode=" + std::to_string(kFound) +
                             ":detect_leaks=0:abort_on_error=0:hard_rss_limit_mb=" + memory,
                         "UBSAN_OPTIONS=print_stacktrace=0:exitcode=" + std::to_string(kFound)};
  // Sanitizers run it to find lines.
  std::string symbolizer = "llvm-symbolizer";
  if (const char* path = std::getenv("PATH"); path != nullptr)
    program.environment.push_back(std::string("PATH=") + path);
  if (const char* named = std::getenv("ASAN_SYMBOLIZER_PATH"); named != nullptr && *named != 0) {
    symbolizer = named;
    program.environment.push_back("ASAN_SYMBOLIZER_PATH=" + symbolizer);
  }
  program.error_file = report;
  program.files.executable = confine::system_folders();
  program.files.executable.push_back(kernel_->folder());
  program.files.executable.push_back(folder_.file(""));
  program.files.executable.push_back(confine::find_program(symbolizer));
  // It writes to files that exist already, so that it cannot fill the disk with others.
  program.files.writable = {"/dev/null"};
  for (std::size_t p = 0; p < function_.parameters.size(); ++p) {
    if (function_.parameters[p].kind != ParameterKind::tensor || function_.parameters[p].direction == Direction::in)
      continue;
    link::write_file(folder_.file(output_file(p)), "");
    program.files.writable.push_back(folder_.file(output_file(p)));
  }
  program.reads_own_process = true;
  program.deadline = deadline;
  program.file_bytes = bytes_ + kReportBytes;
  const confine::ProgramEnd end = confine::run_confined(program);
  std::vector<std::uint8_t> text = link::read_file(report);
  text.resize(std::min(text.size(), kShownBytes));
  return {end.code, end.is_late, printable_lines({reinterpret_cast<const char*>(text.data()), text.size()})};
}

SanitizedRun SanitizedCall::run(double deadline) const {
  const End end = run_program(deadline);
  SanitizedRun run;
  run.outputs.resize(function_.parameters.size());
  if (end.is_late) {
    run.mistake = "the call took longer than its deadline of " + seconds_text(deadline);
    return run;
  }
  if (end.code == kFailed) run.mistake = "the kernel failed: it returned another number than 0";
  if (end.code != 0 && end.code != kFailed) {
    // Drops the map of the sanitizer's shadow memory.
    run.report = end.report.substr(0, end.report.find("\nShadow bytes around"));
    if (!run.report.ends_with('\n')) run.report += '\n';
    run.mistake = gist_of(end.report, end.code);
  }
  if (!run.mistake.empty()) return run;
  for (std::size_t p = 0; p < function_.parameters.size(); ++p) {
    if (function_.parameters[p].kind != ParameterKind::tensor) continue;
    if (function_.parameters[p].direction != Direction::in)
      run.outputs[p] = link::read_file(folder_.file(output_file(p)));
  }
  return run;
}

}  // namespace ferry::foreign
