// A parsed PTX program (PTX ISA, "Syntax" and "State Spaces"): functions of instructions whose operands are resolved to
// registers, numbers and memory addresses. An instruction holds the function that executes it.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "crosscompile/ptx/types.h"

namespace ferry::ptx {

// Thrown for text that is not PTX, or PTX that the interpreter does not support: it never guesses.
struct ParseError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Space : std::uint8_t { generic, global, shared, local, param };

// The registers that every thread starts with, in this order (PTX ISA, "Special Registers").
inline constexpr std::array<const char*, 20> kSpecialRegisters = {
    "%tid.x",       "%tid.y",       "%tid.z",       "%ntid.x",      "%ntid.y",      "%ntid.z", "%ctaid.x",
    "%ctaid.y",     "%ctaid.z",     "%nctaid.x",    "%nctaid.y",    "%nctaid.z",    "%laneid", "%warpid",
    "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt", "%nwarpid"};

enum class OperandKind : std::uint8_t {
  none,
  reg,
  constant,
  address,  // [register or symbol + offset]
  vector,   // {a, b}, a|b or (a, b): parts
  label,    // index of an instruction
  function,
  sink,  // _
};

struct Operand {
  OperandKind kind = OperandKind::none;
  bool is_negated = false;       // !%p
  bool has_register = false;     // an address with a register
  Space space = Space::generic;  // the space of the symbol in an address
  std::uint8_t bits = 64;        // width of the register
  std::uint32_t reg = 0;
  Word value = 0;  // the constant, or the offset added to the register
  std::string name;
  std::vector<Operand> parts;
};

class Thread;
class Warp;
struct Instruction;
using Execute = void (*)(Thread&, const Instruction&);
using ExecuteTogether = void (*)(Warp&, const Instruction&);

enum class Rounding : std::uint8_t { nearest, zero, down, up };
enum class Comparison : std::uint8_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };
enum class Combination : std::uint8_t { none, conjunction, disjunction, exclusive };

struct Instruction {
  Execute execute = nullptr;
  ExecuteTogether together = nullptr;  // executes for all threads of a warp at once
  std::vector<Operand> operands;
  bool has_guard = false;
  Operand guard;

  Type type = Type::b32, from = Type::b32;
  Space space = Space::generic;
  Rounding rounding = Rounding::nearest;
  Comparison comparison = Comparison::eq;
  Combination combination = Combination::none;
  bool flushes = false;        // .ftz
  bool saturates = false;      // .sat
  bool keeps_nan = false;      // .NaN
  bool is_whole = false;       // rounds to a whole number
  bool is_read_only = false;   // .nc
  bool is_transposed = false;  // .trans
  bool sets_carry = false, takes_carry = false;
  unsigned count = 1;  // elements of a vector, or number of matrices
  int mode = 0;        // further modifiers, by instruction
  int lanes = -1;      // the operand that names the lanes of a warp that execute it together; -1: all

  int line = 0;             // in the PTX
  std::uint32_t place = 0;  // in Program::places
  std::string text;         // "add.s32"
};

// A declared variable.
struct Symbol {
  Space space = Space::global;
  Word offset = 0;
  std::size_t bytes = 0;  // 0 if the launch decides
  bool is_dynamic = false;
};

// An array in shared or local memory, or a variable of the program.
struct Array {
  Word offset = 0;
  std::size_t bytes = 0;
  std::string name;
};

// A line of the PTX, and of the source that it was compiled from if the PTX says so (.loc).
struct CodePlace {
  int line = 0;
  unsigned file = 0, source_line = 0;  // 0: unknown
};

struct Parameter {
  std::string name;
  std::size_t offset = 0, bytes = 0;
};

// What CUDA C's assert calls.
inline constexpr const char* kAssertion = "__assertfail";

struct Function {
  std::string name;
  std::string shown;  // in messages: without C++'s mangling
  bool is_kernel = false, is_defined = false;
  std::vector<Parameter> parameters, results;
  std::size_t parameter_bytes = 0;  // including results, and parameters passed to called functions
  std::size_t register_count = 0;
  std::vector<Instruction> code;
  std::map<std::string, Symbol> symbols;  // its own symbols, and all shared memory that it uses
  std::array<unsigned, 3> required_threads = {0, 0, 0}, most_threads = {0, 0, 0};
  std::vector<Array> local, shared;
  bool has_dynamic = false;
  Word dynamic_offset = 0;
  std::string dynamic_name;
};

struct Program {
  std::string target;  // "sm_80"
  int version = 0;     // 71 for 7.1
  std::map<std::string, std::unique_ptr<Function>> functions;
  std::map<std::string, Symbol> symbols;
  std::vector<std::uint8_t> memory;  // contents of its variables; the first byte is at kModuleMemory
  std::vector<Array> global;         // the variables
  std::vector<CodePlace> places{{}};
  std::map<unsigned, std::string> files;

  // Returns "k.cu:14", or "line 14" of the PTX where the source is unknown.
  std::string place_text(std::uint32_t place) const;
};

// Base addresses of the state spaces within generic addresses. Arrays are spaced apart, so that an out-of-bounds index
// does not hit the next one.
inline constexpr Word kModuleMemory = Word{1} << 58, kSharedWindow = Word{1} << 56, kLocalWindow = Word{1} << 55,
                      kWindowBytes = Word{1} << 32;
inline constexpr Word kGap = 512, kDynamicShared = Word{1} << 24;

Program parse(const std::string& text);

}  // namespace ferry::ptx
