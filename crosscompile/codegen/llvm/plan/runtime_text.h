// The parts of exported code that are the same for every function, as LLVM IR: what kernels call through
// ferry/runtime_api.h, and threads for their parallel loops. It is compiled for the target along with the rest, so no
// compiler of C is needed.
#pragma once

#include "ferry/target/target.h"

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>
#include <vector>

namespace ferry::codegen {

// Defines %instance, and the functions that its table has and that plans call.
extern const char* const kRuntimeText;
// Defines %pool, and the functions NAME_threads_bytes, NAME_threads_start and NAME_threads_stop, in which NAME is "@".
extern const char* const kThreadsText;
// Defines what kThreadsText calls to divide loops into chunks: make_shares() and run_chunks().
extern const char* const kThreadsLoopText;

// Functions of <math.h> that kernels may call where the target has no instructions for them. Each text defines one, and
// may call others.
struct MathText {
  const char* name;
  const char* text;
};
const std::vector<MathText>& math_texts();

// The first 8 bytes of a pool.
inline constexpr std::uint64_t kPoolMagic = 0x6665727279746831;
inline constexpr std::uint64_t kMaxPoolThreads = 1024;

// Parses the text for the target, whose data layout it must not state.
std::unique_ptr<llvm::Module> parse_text(const std::string& text, llvm::LLVMContext& context,
                                         llvm::TargetMachine& machine, const Target& target);

}  // namespace ferry::codegen
