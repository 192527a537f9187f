#include "crosscompile/foreign/cuda_compiler.h"

#include <algorithm>
#include <exception>
#include <filesystem>

#include "base/lines.h"
#include "base/printable.h"
#include "base/quantity_text.h"
#include "crosscompile/codegen/cuda/cuda_files.h"
#include "crosscompile/confine/run_confined.h"
#include "crosscompile/foreign/clang_files.h"
#include "crosscompile/foreign/cuda_headers.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/link/temporary_folder.h"

namespace ferry::foreign {
namespace {

using codegen::cuda::CudaCode;
using codegen::cuda::CudaText;

namespace fs = std::filesystem;

// Far more than kernels take: in seconds, and in bytes of address space, which sanitizers take without using it.
constexpr double kNvrtcDeadline = 60;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kNvrtcMemory = 0;
#else
constexpr std::uint64_t kNvrtcMemory = sizeof(void*) == 8 ? std::uint64_t{16} << 30 : 0;
#endif
constexpr std::size_t kMaxNvrtcMessage = std::size_t{1} << 18;
constexpr int kRefused = 3;

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

std::string code_file(std::size_t task) { return "code" + std::to_string(task); }
std::string symbols_file(std::size_t task) { return "symbols" + std::to_string(task); }

// The work of the confined process. Its results are files.
int compile_all(const CudaText& common, const std::vector<CudaTask>& tasks, const link::TemporaryFolder& folder) {
  std::string failure;
  try {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      CudaText text = common;
      text.text += tasks[i].appended;
      text.expressions = tasks[i].expressions;
      const CudaCode made = codegen::cuda::compile_cuda(text, tasks[i].gpu, tasks[i].form);
      std::string symbols;
      for (const std::string& one : made.symbols) symbols += one + "\n";
      link::write_file(folder.file(code_file(i)), made.bytes);
      link::write_file(folder.file(symbols_file(i)), bytes_of(symbols));
    }
    return 0;
  } catch (const std::exception& error) {
    failure = error.what();
  }
  try {
    link::write_file(folder.file("error"), bytes_of(failure));
  } catch (const std::exception&) {
    return kRefused + 1;
  }
  return kRefused;
}

CudaText common_text(const std::string& file, const std::string& text, const std::vector<std::string>& flags) {
  // Line information names the file: without its folder, it is the same in every checkout.
  CudaText common{text, fs::path(file).filename().string(), {"--generate-line-info"}, cuda_headers()};
  std::string folder = fs::path(file).parent_path().string();
  common.options.push_back("--include-path=" + (folder.empty() ? "." : folder));
  if (const std::string headers = codegen::cuda::cuda_header_folder(); !headers.empty())
    common.options.push_back("--include-path=" + headers);
  common.options.insert(common.options.end(), flags.begin(), flags.end());
  return common;
}

confine::AllowedFiles files_of_nvrtc(const std::string& file, const std::vector<std::string>& flags,
                                     const std::string& folder) {
  confine::AllowedFiles files = files_of_clang("", file, flags, folder);
  std::error_code error;
  const fs::path library =
      fs::canonical(codegen::cuda::expect_cuda_file(codegen::cuda::CudaFile::nvrtc), error).parent_path();
  if (!error) files.executable.push_back(library);
  if (const std::string headers = codegen::cuda::cuda_header_folder(); !headers.empty())
    files.readable.push_back(headers);
  return files;
}

std::string nvrtc_message_in(const std::string& file) {
  const std::vector<std::uint8_t> bytes = link::read_file(file);
  std::string text =
      printable_lines({reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kMaxNvrtcMessage)});
  text.resize(text.find_last_not_of('\n') + 1);
  return text;
}

// Returns advice to add to a message about a header that was not found.
std::string advice_on_cuda(const std::string& message) {
  if (message.find("could not open source file") == std::string::npos) return "";
  return "\nNVRTC reads the file's folder, those of --cflags=-I options, and CUDA's own headers where a CUDA Toolkit "
         "is "
         "installed (or 'pip install nvidia-cuda-runtime-cu12'); <stdint.h>, <limits.h>, <float.h>, <math.h> and "
         "<cuda_runtime.h> are there without one";
}

}  // namespace

bool is_cuda(const std::string& file) { return file.ends_with(".cu"); }

std::vector<CudaCode> compile_cuda_file(const std::string& file, const std::string& text,
                                        const std::vector<std::string>& flags, const std::vector<CudaTask>& tasks) {
  // In this process: what is loaded here need not be loaded again for each compilation.
  codegen::cuda::load_nvrtc();
  const link::TemporaryFolder folder;
  const CudaText common = common_text(file, text, flags);
  confine::ConfinedProgram program{.words = {"NVRTC"}};
  program.work = [&] { return compile_all(common, tasks, folder); };
  program.files = files_of_nvrtc(file, flags, folder.file(""));
  program.deadline = kNvrtcDeadline;
  program.memory_bytes = kNvrtcMemory;
  const confine::ProgramEnd end = confine::run_confined(program);
  if (end.is_late) throw CompileError("NVRTC took longer than " + seconds_text(kNvrtcDeadline) + " to compile " + file);
  if (end.code == kRefused) {
    const std::string message = nvrtc_message_in(folder.file("error"));
    throw CompileError(message + advice_on_cuda(message));
  }
  if (end.code != 0)
    throw CompileError(
        "NVRTC cannot compile " + file + ": it ended " +
        (end.code > 128 ? "by signal " + std::to_string(end.code - 128) : "with code " + std::to_string(end.code)));
  std::vector<CudaCode> codes;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    CudaCode code{link::read_file(folder.file(code_file(i)))};
    const std::vector<std::uint8_t> symbols = link::read_file(folder.file(symbols_file(i)));
    for (const std::string_view line : lines_of({reinterpret_cast<const char*>(symbols.data()), symbols.size()}))
      if (!line.empty()) code.symbols.emplace_back(line);
    codes.push_back(std::move(code));
  }
  return codes;
}

}  // namespace ferry::foreign
