#include "crosscompile/foreign/c_compiler.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "crosscompile/confine/run_confined.h"
#include "crosscompile/foreign/c_headers.h"
#include "crosscompile/foreign/clang_crash.h"
#include "crosscompile/foreign/clang_files.h"
#include "crosscompile/foreign/cpp_headers.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/link/temporary_folder.h"
#include "crosscompile/target/abi.h"

namespace ferry::foreign {
namespace {

// The names of clang, in this order: the version of ferry's own LLVM, the system's choice, newer ones, older ones.
constexpr const char* kClangs[] = {"clang-19", "clang",    "clang-20", "clang-21", "clang-22",
                                   "clang-18", "clang-17", "clang-16", "clang-15", "clang-14"};
// Far more than kernels take: for clang in seconds, and in bytes of address space.
constexpr double kDeadline = 60;
constexpr std::size_t kMaxMessage = std::size_t{1} << 18;
constexpr std::uint64_t kMemory = sizeof(void*) == 8 ? std::uint64_t{16} << 30 : 0;

bool ends_with_one_of(const std::string& file, std::initializer_list<const char*> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](const char* ending) { return file.ends_with(ending); });
}

bool is_cpp(const std::string& file) { return ends_with_one_of(file, {".cc", ".cpp", ".cxx", ".C"}); }

std::string clang() {
  if (const char* named = std::getenv("FERRY_CLANG"); named != nullptr && *named != 0) return named;
  for (const char* name : kClangs) {
    if (!confine::find_program(name).empty()) return name;
  }
  return kClangs[0];
}

// Passes exactly the target's processor and features, so that the driver's own defaults do not matter.
void add_target(std::vector<std::string>& words, const Target& target) {
  words.push_back("--target=" + target.triple);
  const Abi abi = abi_of(target);
  if (const std::string name = abi.float_abi; !name.empty()) words.push_back("-mfloat-abi=" + name);
  if (const std::string name = abi.calling_convention; !name.empty()) words.push_back("-mabi=" + name);
  if (abi.has_outlined_atomics) words.emplace_back("-mno-outline-atomics");
  const auto pass = [&](const char* name, const std::string& value) {
    words.insert(words.end(), {"-Xclang", name, "-Xclang", value});
  };
  pass("-target-cpu", target.cpu);
  for (const std::string& feature : target.features) pass("-target-feature", "+" + feature);
}

// Runs clang, which gets this one folder to write to and reads the file, if one is named, and what it includes. Throws
// CompileError if clang takes too long or cannot be run.
int run(const std::vector<std::string>& words, const std::string& file, const std::vector<std::string>& flags,
        const link::TemporaryFolder& folder, const std::string& output, const std::string& errors) {
  confine::ConfinedProgram program{.words = words, .environment = environment_of_clang(folder.file(""))};
  program.output_file = output;
  program.error_file = errors;
  program.files = files_of_clang(words.front(), file, flags, folder.file(""));
  program.deadline = kDeadline;
  program.memory_bytes = kMemory;
  const std::string what = file.empty() ? "to link a program" : "to compile " + file;
  const confine::ProgramEnd end = confine::run_confined(program);
  if (end.is_missing) {
    throw CompileError(
        "expected the program " + words.front() + " " + what +
        ", got none: install clang 14 or newer (Debian: apt install clang), or name one with FERRY_CLANG");
  }
  if (end.is_late) throw CompileError(words.front() + " took longer than " + seconds_text(kDeadline) + " " + what);
  return end.code;
}

std::string text_of(const std::string& file) {
  const std::vector<std::uint8_t> bytes = link::read_file(file);
  return {bytes.begin(), bytes.end()};
}

// Returns clang's message, which quotes the file.
std::string message_in(const std::string& file) {
  std::string text = printable_lines(text_of(file).substr(0, kMaxMessage));
  text.resize(text.find_last_not_of('\n') + 1);
  return text;
}

// Throws CompileError with clang's own message on failure.
void run_clang(const std::vector<std::string>& mode, const std::string& file, const std::vector<std::string>& flags,
               const Target& target, const link::TemporaryFolder& folder, const std::string& output) {
  if (access(file.c_str(), R_OK) != 0) throw CompileError("cannot read '" + file + "': " + std::strerror(errno));
  write_c_headers(folder, target);
  std::vector<std::string> words = {clang(), "-fno-crash-diagnostics"};
  words.insert(words.end(), mode.begin(), mode.end());
  if (is_ir(file)) {
    words.insert(words.end(), {"-x", "ir"});
  } else {
    // The folder has another name in each run, and debug information names its headers.
    words.insert(words.end(), {"-ffreestanding", "-nostdlibinc", "-isystem", folder.file(""),
                               "-fdebug-prefix-map=" + folder.file("") + "=ferry/"});
    if (is_cpp(file)) {
      write_cpp_headers(folder);
      words.insert(words.end(), {"-std=c++20", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"});
    }
  }
  add_target(words, target);
  words.insert(words.end(), flags.begin(), flags.end());
  words.push_back(file);
  const std::string errors = folder.file("errors");
  if (run(words, file, flags, folder, output, errors) == 0) return;
  const std::string text = message_in(errors);
  if (is_clang_crash(text)) throw CompileError(crash_text(text, text_of(file), file, target));
  std::string advice = advice_on_headers(text);
  if (text.find("unknown target CPU") != std::string::npos) {
    advice = clang() +
             " is older than this processor: install a newer one (Debian: apt install clang-19), name it with "
             "FERRY_CLANG, or compile for an earlier processor with --target";
  }
  if (advice.empty() && text.find("Permission denied") != std::string::npos) {
    advice = "clang reads only the file's folder and those that options name, as in --cflags=-I" +
             std::filesystem::path(file).parent_path().string() + "/include";
  }
  throw CompileError(clang() + " refuses " + file + ":\n" + text + (advice.empty() ? "" : "\n" + advice));
}

}  // namespace

bool is_compiled(const std::string& file) {
  return ends_with_one_of(file, {".c", ".cc", ".cpp", ".cxx", ".C", ".ll", ".bc", ".s", ".S"});
}

bool is_ir(const std::string& file) { return ends_with_one_of(file, {".ll", ".bc"}); }

bool has_syntax(const std::string& file) { return ends_with_one_of(file, {".c", ".cc", ".cpp", ".cxx", ".C"}); }

std::vector<std::uint8_t> compile_object(const std::string& file, const std::vector<std::string>& flags,
                                         const Target& target) {
  const link::TemporaryFolder folder;
  const std::string object = folder.file("kernel.o");
  run_clang({"-c", "-o", object, "-O3",
             "-gline-tables-only",  // for crash reports and debuggers
             "-fPIC", "-ffunction-sections", "-fno-stack-protector", "-fno-asynchronous-unwind-tables",
             "-fno-math-errno", "-Wno-override-module", "-Wno-unused-command-line-argument"},
            file, flags, target, folder, "/dev/null");
  return link::read_file(object);
}

std::vector<std::uint8_t> compile_sanitized(const std::string& file, const std::vector<std::string>& flags,
                                            const Target& target, const std::string& sanitizers) {
  const link::TemporaryFolder folder;
  const std::string made = folder.file("kernel.o");
  run_clang(
      {"-c", "-o", made, "-O1", "-g", "-fPIE", "-fno-omit-frame-pointer", sanitizers, "-fno-sanitize=function,vptr",
       "-fno-sanitize-recover=all", "-fno-math-errno", "-Wno-unused-command-line-argument"},
      file, flags, target, folder, "/dev/null");
  return link::read_file(made);
}

void link_program(const std::vector<std::string>& words, const std::string& program,
                  const link::TemporaryFolder& folder) {
  const std::string errors = folder.file("errors");
  std::vector<std::string> command = {clang(), "-o", folder.file(program)};
  command.insert(command.end(), words.begin(), words.end());
  if (run(command, "", {}, folder, "/dev/null", errors) == 0) {
    // The linker may not change modes.
    std::filesystem::permissions(folder.file(program), std::filesystem::perms::owner_all);
    return;
  }
  const std::string text = message_in(errors);
  throw CompileError(clang() + " cannot link a program with its sanitizers; install them (Debian: apt install " +
                     "libclang-rt-19-dev libc6-dev):\n" + text);
}

std::vector<std::uint8_t> compile_with_declarations(const std::string& file, const std::vector<std::string>& flags,
                                                    const Target& target) {
  const link::TemporaryFolder folder;
  const std::string object = folder.file("declarations.o");
  std::vector<std::string> all = flags;
  all.emplace_back("-g");  // whatever the flags say
  run_clang({"-c", "-o", object, "-O1", "-w", "-fPIC"}, file, all, target, folder, "/dev/null");
  return link::read_file(object);
}

std::vector<std::uint8_t> print_ir(const std::string& file, const std::vector<std::string>& flags,
                                   const Target& target) {
  const link::TemporaryFolder folder;
  const std::string text = folder.file("declarations.ll");
  run_clang({"-S", "-emit-llvm", "-o", text, "-O0", "-w"}, file, flags, target, folder, "/dev/null");
  return link::read_file(text);
}

}  // namespace ferry::foreign
