// The places of code and data of the two modules that are compared. Their places affect times more than many code
// changes do, so both run in several layouts: one in each process, the same for both. Modules are kept as relinkable
// code, and are linked when a process needs them.
#pragma once

#include <cstdint>

#include "crosscompile/target/code_form.h"
#include "ferry/client.h"
#include "host/compiler/api/compiler.h"

namespace ferry::bench {

inline constexpr std::uint32_t kLayouts = 64;
// The layout that moves nothing.
inline constexpr std::uint32_t kFirstLayout = 0;

// Returns one of the layouts, whose number is below kLayouts. Number 0 moves nothing. Over all of them the code begins
// in each of the 64 lines of a page once, and equally often at each multiple of 16 bytes in a line; data begins in each
// line of a page once. Both sequences are spread evenly over the page from their beginning, and differently, so that
// the first 8 or 16 layouts already are a fair sample. Throws std::out_of_range.
CodeLayout layout_of(std::uint32_t number);

// Returns how many layouts a module has: kLayouts if its code is relinkable, and otherwise one, as of modules for GPUs
// and of code that came linked.
std::uint32_t layouts_of(const CompiledModule& module);

// Returns the module for devices in a layout, with the same blobs. A module that has only one layout is returned as it
// is, whatever the number, and needs no compiler. Deterministic. Throws CompileError for damaged code.
CompiledModule module_in_layout(const Compiler* compiler, const CompiledModule& module, std::uint32_t number);

}  // namespace ferry::bench
