#include "crosscompile/codegen/llvm/target/disassemble.h"

#include "base/format.h"
#include "crosscompile/codegen/llvm/cpu/targets.h"
#include "crosscompile/codegen/llvm/target/machine.h"

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/TargetSelect.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

namespace ferry::codegen {

namespace {

using Bytes = llvm::ArrayRef<std::uint8_t>;

// A function in an image.
struct Extent {
  std::string name;
  std::uint64_t address = 0;
  Bytes bytes;
};

// Whether code or data begins at an address, where an image mixes them (ARM's constants).
using Mapping = std::map<std::uint64_t, bool>;

// On ARM and RISC-V symbols such as "$d" say that data begins, others that code does.
Mapping data_in(const llvm::object::ELFObjectFileBase& file) {
  Mapping begins;
  for (const llvm::object::ELFSymbolRef symbol : file.symbols()) {
    auto name = symbol.getName();
    auto address = symbol.getAddress();
    if (name && address && name->starts_with("$")) begins[*address] = name->starts_with("$d");
    if (!name) llvm::consumeError(name.takeError());
    if (!address) llvm::consumeError(address.takeError());
  }
  return begins;
}

struct Decoded {
  std::uint64_t address = 0;
  std::string text;
  std::optional<std::uint64_t> target;  // where a branch or call leads
  bool is_call = false;
};

// By address, those at one address by name: the exported one or the first.
std::map<std::uint64_t, Extent> extents_of(const llvm::object::ELFObjectFileBase& file) {
  std::map<std::uint64_t, Extent> extents;
  const auto add = [&](const llvm::object::ELFSymbolRef& symbol) {
    auto type = symbol.getType();
    auto name = symbol.getName();
    auto address = symbol.getAddress();
    auto section = symbol.getSection();
    const bool is_read = type && name && address && section;
    if (!type) llvm::consumeError(type.takeError());
    if (!name) llvm::consumeError(name.takeError());
    if (!address) llvm::consumeError(address.takeError());
    if (!section) llvm::consumeError(section.takeError());
    if (!is_read || *type != llvm::object::SymbolRef::ST_Function || *section == file.section_end()) return;
    auto contents = (*section)->getContents();
    if (!contents) {
      llvm::consumeError(contents.takeError());
      return;
    }
    const std::uint64_t begin = (*section)->getAddress();
    // The lowest bit marks Thumb, which ferry does not generate.
    if (file.getEMachine() == llvm::ELF::EM_ARM && *address % 2 == 1) return;
    if (*address < begin || *address - begin >= contents->size()) return;
    const std::uint64_t most = contents->size() - (*address - begin);
    const auto* data = reinterpret_cast<const std::uint8_t*>(contents->data()) + (*address - begin);
    // Code of assemblers may have no size: it ends where the next function begins.
    const std::uint64_t size = symbol.getSize() == 0 ? most : std::min<std::uint64_t>(symbol.getSize(), most);
    Extent extent{name->str(), *address, Bytes(data, size)};
    const auto [place, is_new] = extents.emplace(*address, extent);
    if (!is_new && place->second.name > extent.name) place->second.name = extent.name;
  };
  for (const llvm::object::ELFSymbolRef symbol : file.symbols()) add(symbol);
  for (const llvm::object::ELFSymbolRef symbol : file.getDynamicSymbolIterators()) add(symbol);
  for (auto next = extents.begin(); next != extents.end();) {
    Extent& extent = (next++)->second;
    if (next != extents.end() && next->first - extent.address < extent.bytes.size()) {
      extent.bytes = extent.bytes.take_front(next->first - extent.address);
    }
  }
  return extents;
}

// LLVM's parts that turn bytes into text. They refer to each other.
class Decoder {
 public:
  explicit Decoder(const Target& target) {
    static std::once_flag once;
    std::call_once(once, [] { llvm::InitializeAllDisassemblers(); });
    const llvm::Target& llvm = llvm_target(target.triple);
    registers_.reset(llvm.createMCRegInfo(target.triple));
    const llvm::MCTargetOptions options;
    assembly_.reset(llvm.createMCAsmInfo(*registers_, target.triple, options));
    subtarget_.reset(llvm.createMCSubtargetInfo(target.triple, target.cpu, feature_string(target)));
    instructions_.reset(llvm.createMCInstrInfo());
    context_ = std::make_unique<llvm::MCContext>(llvm::Triple(target.triple), assembly_.get(), registers_.get(),
                                                 subtarget_.get());
    disassembler_.reset(llvm.createMCDisassembler(*subtarget_, *context_));
    analysis_.reset(llvm.createMCInstrAnalysis(instructions_.get()));
    printer_.reset(llvm.createMCInstPrinter(llvm::Triple(target.triple), assembly_->getAssemblerDialect(), *assembly_,
                                            *instructions_, *registers_));
    if (printer_ == nullptr) return;
    printer_->setPrintBranchImmAsAddress(true);
    printer_->setPrintImmHex(false);
  }

  bool is_complete() const { return disassembler_ != nullptr && analysis_ != nullptr && printer_ != nullptr; }

  std::vector<Decoded> decode(const Extent& extent, const Mapping& begins) const {
    std::vector<Decoded> decoded;
    for (std::uint64_t at = 0; at < extent.bytes.size();) {
      const auto next = begins.upper_bound(extent.address + at);
      if (next != begins.begin() && std::prev(next)->second && std::prev(next)->first >= extent.address) {
        const std::uint64_t end = next == begins.end() ? extent.bytes.size() : next->first - extent.address;
        const std::uint64_t word = std::min({std::uint64_t{4}, end - at, extent.bytes.size() - at});
        decoded.push_back({extent.address + at, bytes_text(extent.bytes.slice(at, word)), {}, false});
        at += word;
        continue;
      }
      llvm::MCInst instruction;
      std::uint64_t size = 0;
      const std::uint64_t address = extent.address + at;
      const auto status =
          disassembler_->getInstruction(instruction, size, extent.bytes.slice(at), address, llvm::nulls());
      if (status == llvm::MCDisassembler::Success) {
        decoded.push_back(describe(instruction, address, size));
      } else {
        size = std::clamp<std::uint64_t>(size, 1, extent.bytes.size() - at);
        decoded.push_back({address, bytes_text(extent.bytes.slice(at, size)), {}, false});
      }
      at += std::max<std::uint64_t>(size, 1);
    }
    return decoded;
  }

 private:
  static std::string bytes_text(Bytes bytes) {
    std::string text = ".byte";
    for (const std::uint8_t byte : bytes) text += format(" %02x", byte);
    return text;
  }

  Decoded describe(const llvm::MCInst& instruction, std::uint64_t address, std::uint64_t size) const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    printer_->printInst(&instruction, address, "", *subtarget_, stream);
    Decoded decoded{address, cleaned(text), {}, analysis_->isCall(instruction)};
    std::uint64_t target = 0;
    if ((decoded.is_call || analysis_->isBranch(instruction)) &&
        analysis_->evaluateBranch(instruction, address, size, target)) {
      decoded.target = target;
      // The last operand of a direct branch is where it leads.
      decoded.text.erase(std::min(decoded.text.find_last_of(' '), decoded.text.size()));
    }
    return decoded;
  }

  // Replaces tabs, and the places of data relative to the code.
  static std::string cleaned(std::string text) {
    std::string result;
    for (const char c : text) {
      if (c != '\t' && c != ' ') {
        result += c;
      } else if (!result.empty() && result.back() != ' ') {
        result += ' ';
      }
    }
    while (result.ends_with(' ')) result.pop_back();
    if (const std::size_t relative = result.find("(%rip)"); relative != std::string::npos) {
      std::size_t begin = relative;
      while (begin > 0 && (std::isxdigit(static_cast<unsigned char>(result[begin - 1])) != 0 ||
                           result[begin - 1] == 'x' || result[begin - 1] == '-')) {
        --begin;
      }
      result.replace(begin, relative - begin, "data");
    }
    if (const std::size_t pool = result.find("[pc, #"); pool != std::string::npos) {
      result.replace(pool, result.find(']', pool) - pool, "[pc, data");
    }
    if (result.starts_with("adrp ") || result.starts_with("auipc ")) {
      result.erase(result.find_last_of(' ') + 1);
      result += "data";
    }
    return result;
  }

  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> assembly_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCDisassembler> disassembler_;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis_;
  std::unique_ptr<llvm::MCInstPrinter> printer_;
};

MachineFunction with_targets(const Extent& extent, const std::vector<Decoded>& decoded,
                             const std::map<std::uint64_t, Extent>& all) {
  MachineFunction function{extent.name, {}};
  for (const Decoded& one : decoded) {
    MachineInstruction& instruction = function.instructions.emplace_back(one.text);
    if (!one.target) continue;
    const auto place = std::ranges::lower_bound(decoded, *one.target, {}, &Decoded::address);
    if (!one.is_call && place != decoded.end() && place->address == *one.target) {
      instruction.target = static_cast<std::size_t>(place - decoded.begin());
    } else {
      // A target that begins no function is in the procedure linkage table, or in the middle of an instruction.
      const auto callee = all.find(*one.target);
      instruction.text += " " + (callee == all.end() ? "elsewhere" : callee->second.name);
    }
  }
  return function;
}

}  // namespace

std::vector<MachineFunction> disassemble(std::span<const std::uint8_t> image, const Target& target) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(image.data()), image.size());
  auto file = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, "image"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return {};
  }
  const Decoder decoder(target);
  if (!decoder.is_complete()) return {};
  const auto* elf = llvm::dyn_cast<llvm::object::ELFObjectFileBase>(file->get());
  if (elf == nullptr) return {};
  const auto extents = extents_of(*elf);
  const Mapping begins = data_in(*elf);
  std::vector<MachineFunction> functions;
  for (const auto& [address, extent] : extents) {
    functions.push_back(with_targets(extent, decoder.decode(extent, begins), extents));
  }
  std::ranges::stable_sort(functions, {}, &MachineFunction::name);
  return functions;
}

}  // namespace ferry::codegen
