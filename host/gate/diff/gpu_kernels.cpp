#include "host/gate/diff/gpu_kernels.h"

#include <algorithm>

#include "base/lines.h"

namespace ferry::gate {

namespace {

constexpr std::string_view kOpenclKernel = "__kernel ", kPtxKernel = ".entry ", kPtxLabel = "__BB";
constexpr std::string_view kDigits = "0123456789";

// Returns the name of the kernel that begins with this line; empty if none does.
std::string symbol_in(std::string_view line) {
  if (line.starts_with(kOpenclKernel) && line.ends_with('(')) {
    line.remove_suffix(1);
    return std::string(line.substr(line.find_last_of(' ') + 1));
  }
  const std::size_t entry = line.find(kPtxKernel);
  if (!line.starts_with('.') || entry == std::string_view::npos) return {};
  line.remove_prefix(entry + kPtxKernel.size());
  return std::string(line.substr(0, line.find('(')));
}

// Returns the text with "kernel" in place of the symbol, and without the number of the function in labels of PTX such
// as $L__BB7_2.
std::string without_names(std::string_view text, std::string_view symbol) {
  std::string changed;
  while (!text.empty()) {
    if (text.starts_with(symbol)) {
      changed += "kernel";
      text.remove_prefix(symbol.size());
    } else if (text.starts_with(kPtxLabel)) {
      changed += kPtxLabel;
      text.remove_prefix(std::min(text.find_first_not_of(kDigits, kPtxLabel.size()), text.size()));
    } else {
      changed += text.front();
      text.remove_prefix(1);
    }
  }
  return changed;
}

}  // namespace

bool is_text(const CodeImage& image) { return image.kind == ImageKind::ptx || image.kind == ImageKind::opencl_c; }

std::string text_of(const CodeImage& image) { return {image.bytes.begin(), image.bytes.end()}; }

GpuKernels gpu_kernels_of(std::string_view text) {
  GpuKernels found;
  bool is_in_kernel = false, is_in_comment = false;
  for (const std::string_view line : lines_of(text)) {
    if (std::string symbol = is_in_kernel || is_in_comment ? "" : symbol_in(line); !symbol.empty()) {
      is_in_kernel = true;
      found.kernels.push_back({std::move(symbol), ""});
    }
    if (is_in_kernel) {
      found.kernels.back().text += std::string(line) + "\n";
      is_in_kernel = line != "}";
      continue;
    }
    is_in_comment |= line.starts_with("/*");
    const std::size_t first = line.find_first_not_of(" \t");
    const bool is_empty = first == std::string_view::npos || line.substr(first).starts_with("//");
    if (!is_in_comment && !is_empty) found.beside += std::string(line) + "\n";
    if (line.ends_with("*/")) is_in_comment = false;
  }
  for (GpuKernel& kernel : found.kernels) kernel.text = without_names(kernel.text, kernel.symbol);
  return found;
}

}  // namespace ferry::gate
