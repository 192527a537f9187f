// Generates machine code from lowered functions with LLVM. No LLVM type appears here.
#pragma once

#include "crosscompile/codegen/llvm/mca/core_model.h"
#include "crosscompile/codegen/llvm/object_cache.h"
#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ferry::codegen {

// Code for 32-bit machines relies on every symbol being within [-kMaxNarrowSize, kMaxNarrowSize]; callers must ensure
// this.
inline constexpr std::int64_t kMaxNarrowSize = (std::int64_t{1} << 31) - 2;

inline constexpr const char* kDescriptionSection = ".ferry.module";

// The functions must have gone through passes::run_pipeline. Each becomes an external symbol (module/kernel_symbol.h).
// `description` is stored in a section of its own, kDescriptionSection, which linkers drop.
std::vector<std::uint8_t> emit_object(std::span<const ir::Function> functions, const Target& target,
                                      std::span<const std::uint8_t> description = {});
// Where the tensors of a call may begin: at multiples of 64 bytes, as those of a device do, or of their elements' size,
// as those of a C program.
enum class TensorAlignment : std::uint8_t { device, element };
// Likewise, for linking together, on several threads: an object of what calls run and one of the init functions, or, if
// there are many functions, one of each, in order. Throws the exception of the first object that has one. Objects of
// init functions are looked up in `init_objects`, and added to it, unless it is null.
std::vector<std::vector<std::uint8_t>> emit_objects(std::span<const ir::Function> functions, const Target& target,
                                                    TensorAlignment alignment = TensorAlignment::device,
                                                    ObjectCache* init_objects = nullptr);
std::string emit_llvm(std::span<const ir::Function> functions, const Target& target);  // optimised IR as text
std::string emit_assembly(std::span<const ir::Function> functions, const Target& target);
// Returns the cycles of a call of the function by LLVM's model of a core (llvm-mca), from its machine code and how
// often each loop runs, with all data in the first-level cache. Returns nothing if LLVM has no model of the core, or
// none of some instruction, or if the trip count of a loop is not known.
std::optional<double> code_cycles(const ir::Function& function, const Target& target, const CoreModel& core);

}  // namespace ferry::codegen
