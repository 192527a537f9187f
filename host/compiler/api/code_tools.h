// Works on code that is compiled already: the third of the three parts of a Compiler.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "crosscompile/target/code_form.h"
#include "crosscompile/target/machine_code.h"
#include "ferry/hash.h"
#include "ferry/target/target.h"

namespace ferry {

using Bytes = std::vector<std::uint8_t>;

// Throws CompileError for what is damaged. Threads may share one.
class CodeTools {
 public:
  virtual ~CodeTools() = default;

  // Returns the .ferry file of an object that this compiler made, and nothing for any other object. The form is as of
  // foreign kernels.
  virtual std::optional<Bytes> module_of_object(std::span<const std::uint8_t> object, const std::string& name,
                                                CodeForm form) const = 0;

  // Returns the module for devices of one that was compiled as relinkable, with its code and data at these places. In
  // the layout {} it has the bytes that compiling it as linked gives.
  virtual Bytes link_module(std::span<const std::uint8_t> module, const CodeLayout& layout) const = 0;
  // Returns the hash of what a module of any form does when it runs: its description, without the step's names, and the
  // loaded bytes of its code. Source, schedule and debug information have no part in it.
  virtual Hash code_identity(std::span<const std::uint8_t> module) const = 0;
  // Returns the hash of this compiler, so that another build has another one, of the tools that it calls for the
  // target, and of the target.
  virtual Hash identity(const Target& target) const = 0;

  // Returns "mm.tc:3" for an address of a linked image; empty when its debug information does not cover it.
  virtual std::string source_line(std::span<const std::uint8_t> image, std::uint64_t address) const = 0;
  // Returns the functions of a linked image, sorted by name; what cannot be read is left out.
  virtual std::vector<MachineFunction> disassemble(std::span<const std::uint8_t> image, const Target& target) const = 0;
};

}  // namespace ferry
