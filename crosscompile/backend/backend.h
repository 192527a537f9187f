// The steps from lowered functions to a module, an object or a text that differ between kinds of targets. Each kind has
// one implementation, in a folder of its own; make_backend.h chooses it by the target's architecture.
#pragma once

#include "base/status.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/function.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/code_form.h"
#include "ferry/target/target.h"
#include "module/module_file.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ferry {

namespace codegen {
class ObjectCache;
}  // namespace codegen

// The forms in which a backend shows its code to people.
enum class TextForm : std::uint8_t { source, ptx, llvm, assembly };

struct ModuleFunctions {
  std::span<const ir::Function> lowered;       // before the passes
  std::span<const ir::Function> after_passes;  // after the passes for pipeline_target()
  CodeForm form = CodeForm::linked;            // only CPUs have others
  // Objects of init functions that were compiled before; may be null.
  codegen::ObjectCache* init_objects = nullptr;
};

struct ModuleImages {
  std::vector<CodeImage> images;
  std::vector<std::string> notes = {};  // what a user should know about a module with these images
};

class Backend {
 public:
  virtual ~Backend() = default;

  // Throws CompileError unless modules are made for the target.
  virtual void check_supports_modules() const = 0;
  // Returns the reason why the target's devices cannot run a function as it is lowered, alone; ok if they can. Takes
  // the time of the passes, and does not call other compilers.
  virtual Status supports(const ir::Function& lowered) const = 0;
  // Returns the target that the passes compile a module's functions for.
  virtual Target pipeline_target() const = 0;
  // Returns the plan of a function that went through the passes; nothing where its code is called.
  virtual std::optional<Plan> plan_of(const ir::Function& after_passes) const = 0;
  // Compiles a module's functions together.
  virtual ModuleImages images(const ModuleFunctions& functions) const = 0;

  // Compiles functions that went through the passes to a relocatable object. `description`: see codegen::emit_object().
  // Throws CompileError where there are no objects.
  virtual std::vector<std::uint8_t> object(std::span<const ir::Function> after_passes,
                                           std::span<const std::uint8_t> description) const = 0;

  virtual bool has_text(TextForm form) const = 0;
  // Compiles functions that have not gone through the passes to a form that the backend has. `after`, which may be
  // empty, is called as by run_pipeline(), but not for PTX, whose passes are for another target.
  virtual std::string text(TextForm form, std::span<const ir::Function> lowered,
                           const passes::AfterPass& after) const = 0;
  // Returns how names of files with the source text end; empty where there is none.
  virtual const char* source_extension() const = 0;
};

// Returns the message of the CompileError that `compile` throws; ok if it throws none.
template <class Compile>
Status support_of(const Compile& compile) {
  try {
    compile();
    return {};
  } catch (const CompileError& error) {
    return {ErrorCode::unsupported, error.what()};
  }
}

// For backends without objects.
[[noreturn]] void refuse_object(const Target& target);

}  // namespace ferry
