// Reads how a function is declared: from the debug information of an object, or from LLVM IR.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ferry::link {

// The type of a parameter or a result. Of a pointer or a reference, `kind` and `bits` are those of what it points to,
// where arrays count as their elements.
struct DeclaredType {
  enum class Kind : std::uint8_t {
    nothing,  // void, or unknown: pointers of LLVM IR have no types
    integer,  // bool, characters and enumerations too
    real,
    brain,      // __bf16
    structure,  // vectors and complex numbers too
    other,      // pointers to pointers or functions
  };
  std::string text;     // "const float *", "status": as the source names it
  std::string meaning;  // "short" for a typedef or an enumeration; otherwise empty
  Kind kind = Kind::nothing;
  std::uint64_t bits = 0;
  bool is_pointer = false;
  bool is_constant = false;  // whether what it points to may not be written
};

struct DeclaredFunction {
  struct Parameter {
    std::string name;  // may be empty
    DeclaredType type;
  };
  std::string file;  // as the compiler was given it; empty: unknown
  unsigned line = 0;
  DeclaredType returns;
  std::vector<Parameter> parameters;
};

// Finds the function that has this symbol in the object's debug information; nothing where that does not describe it.
std::optional<DeclaredFunction> declared_in_object(std::span<const std::uint8_t> object, const std::string& symbol);

// Finds the function with this name in LLVM IR, as LLVM prints it. It is not parsed by LLVM in this process, since it
// may be anybody's.
std::optional<DeclaredFunction> declared_in_ir(std::string_view ir, const std::string& symbol);

}  // namespace ferry::link
