#include "crosscompile/link/declared_function.h"

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

namespace ferry::link {
namespace {

using Kind = DeclaredType::Kind;

constexpr int kMostNesting = 64;  // an object may come from another compiler, or be made by hand

llvm::DWARFDie referenced(const llvm::DWARFDie& die, llvm::dwarf::Attribute attribute) {
  return die.getAttributeValueAsReferencedDie(attribute);
}

std::string name_of(const llvm::DWARFDie& die) {
  const char* const name = die.getShortName();
  return name == nullptr ? std::string() : name;
}

std::uint64_t bits_of(const llvm::DWARFDie& die) {
  return llvm::dwarf::toUnsigned(die.find(llvm::dwarf::DW_AT_byte_size), 0) * 8;
}

// Sets kind and bits of an arithmetic type.
void set_arithmetic(const llvm::DWARFDie& die, DeclaredType& type) {
  type.bits = bits_of(die);
  switch (llvm::dwarf::toUnsigned(die.find(llvm::dwarf::DW_AT_encoding), 0)) {
    case llvm::dwarf::DW_ATE_float: type.kind = name_of(die).starts_with("__bf16") ? Kind::brain : Kind::real; break;
    case llvm::dwarf::DW_ATE_complex_float: type.kind = Kind::structure; break;
    default: type.kind = Kind::integer; break;
  }
}

void set_array(const llvm::DWARFDie& die, DeclaredType& type, int depth);

// Describes what `die` says; one that does not exist is void.
void set_type(const llvm::DWARFDie& die, DeclaredType& type, int depth) {
  if (!die || depth > kMostNesting) {
    type.kind = die ? Kind::other : Kind::nothing;
    type.text = "void";
    return;
  }
  const llvm::DWARFDie inner = referenced(die, llvm::dwarf::DW_AT_type);
  switch (die.getTag()) {
    case llvm::dwarf::DW_TAG_base_type:
      set_arithmetic(die, type);
      type.text = name_of(die);
      return;
    case llvm::dwarf::DW_TAG_enumeration_type:
      type.kind = Kind::integer;
      type.bits = bits_of(die);
      type.text = "enum " + name_of(die);
      if (inner) {
        DeclaredType underlying;
        set_type(inner, underlying, depth + 1);
        type.meaning = underlying.meaning.empty() ? underlying.text : underlying.meaning;
      }
      return;
    case llvm::dwarf::DW_TAG_typedef:
      set_type(inner, type, depth + 1);
      if (type.meaning.empty()) type.meaning = type.text;
      type.text = name_of(die);
      return;
    case llvm::dwarf::DW_TAG_const_type:
      set_type(inner, type, depth + 1);
      if (type.is_pointer) return;  // the pointer itself is constant
      type.is_constant = true;
      type.text = "const " + type.text;
      return;
    case llvm::dwarf::DW_TAG_volatile_type:
    case llvm::dwarf::DW_TAG_restrict_type:
    case llvm::dwarf::DW_TAG_atomic_type: return set_type(inner, type, depth + 1);
    case llvm::dwarf::DW_TAG_pointer_type:
    case llvm::dwarf::DW_TAG_reference_type:
    case llvm::dwarf::DW_TAG_rvalue_reference_type:
      set_type(inner, type, depth + 1);
      if (type.is_pointer) type.kind = Kind::other;
      type.is_pointer = true;
      type.meaning.clear();
      type.text += die.getTag() == llvm::dwarf::DW_TAG_pointer_type ? " *" : " &";
      return;
    case llvm::dwarf::DW_TAG_array_type: return set_array(die, type, depth);
    case llvm::dwarf::DW_TAG_structure_type:
    case llvm::dwarf::DW_TAG_class_type:
    case llvm::dwarf::DW_TAG_union_type:
      type.kind = Kind::structure;
      type.bits = bits_of(die);
      type.text = name_of(die).empty() ? "a structure" : name_of(die);
      return;
    default:
      type.kind = Kind::other;
      type.text = name_of(die).empty() ? "a function" : name_of(die);
      return;
  }
}

void set_array(const llvm::DWARFDie& die, DeclaredType& type, int depth) {
  const bool is_vector = die.find(llvm::dwarf::DW_AT_GNU_vector).has_value();
  set_type(referenced(die, llvm::dwarf::DW_AT_type), type, depth + 1);
  if (type.is_pointer) type.kind = Kind::other;
  if (is_vector) type.kind = Kind::structure;
  type.text += is_vector ? " vector" : "[]";
}

DeclaredType type_of(const llvm::DWARFDie& die) {
  DeclaredType type;
  set_type(die.getAttributeValueAsReferencedDie(llvm::dwarf::DW_AT_type), type, 0);
  // A number that is constant is a copy.
  if (!type.is_pointer) type.is_constant = false;
  return type;
}

bool defines(const llvm::DWARFDie& die, const std::string& symbol) {
  if (die.getTag() != llvm::dwarf::DW_TAG_subprogram || die.find(llvm::dwarf::DW_AT_declaration)) return false;
  // An instance of an inlined function refers to its description.
  if (die.find(llvm::dwarf::DW_AT_abstract_origin)) return false;
  const char* const linkage_name = die.getLinkageName();
  const char* const name = linkage_name != nullptr ? linkage_name : die.getShortName();
  return name != nullptr && name == symbol;
}

DeclaredFunction described(const llvm::DWARFDie& die) {
  DeclaredFunction function;
  function.file = die.getDeclFile(llvm::DILineInfoSpecifier::FileLineInfoKind::RelativeFilePath);
  function.line = static_cast<unsigned>(die.getDeclLine());
  DeclaredType& returns = function.returns;
  const auto type = die.findRecursively({llvm::dwarf::DW_AT_type});
  set_type(type ? die.getAttributeValueAsReferencedDie(*type) : llvm::DWARFDie(), returns, 0);
  for (const llvm::DWARFDie& child : die.children())
    if (child.getTag() == llvm::dwarf::DW_TAG_formal_parameter)
      function.parameters.push_back({name_of(child), type_of(child)});
  return function;
}

}  // namespace

std::optional<DeclaredFunction> declared_in_object(std::span<const std::uint8_t> object, const std::string& symbol) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(object.data()), object.size());
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "object"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return std::nullopt;
  }
  const auto quietly = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  const auto context = llvm::DWARFContext::create(**file, llvm::DWARFContext::ProcessDebugRelocations::Process, nullptr,
                                                  "", quietly, quietly);
  for (const std::unique_ptr<llvm::DWARFUnit>& unit : context->compile_units())
    for (const llvm::DWARFDebugInfoEntry& entry : unit->dies()) {
      const llvm::DWARFDie die(unit.get(), &entry);
      if (defines(die, symbol)) return described(die);
    }
  return std::nullopt;
}

}  // namespace ferry::link
