#include "crosscompile/codegen/llvm/plan/runtime_text.h"

#include "crosscompile/codegen/llvm/target/machine.h"
#include "crosscompile/ir/error.h"

#include <llvm/AsmParser/Parser.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

namespace ferry::codegen {

// %api is ferry_runtime_api, the first member, since kernels hand back its address. Behind the other members of an
// instance follow those that depend on the function (instance.h).
const char* const kRuntimeText = R"(
%api = type { i32, i32, ptr, ptr, ptr, ptr }
; api, call workspace, workspaces of threads, bytes from one to the next, pool, weights, bytes of the arena,
; bytes that the instance keeps, mark of the function, threads
%instance = type { %api, ptr, ptr, i64, ptr, ptr, i64, i64, i64, i64 }
; mark, threads, parallel_for, index of the calling thread
%pool = type { i64, i64, ptr, ptr }

define internal i32 @parallel_for(ptr %rt, i64 %n, i64 %grain, ptr %body, ptr %closure) nounwind {
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %nothing
loop:
  %pool.at = getelementptr %instance, ptr %rt, i32 0, i32 4
  %pool = load ptr, ptr %pool.at
  %alone = icmp eq ptr %pool, null
  br i1 %alone, label %serial, label %parallel
serial:
  %result = call i32 %body(i64 0, i64 %n, ptr %closure)
  ret i32 %result
parallel:
  %run.at = getelementptr %pool, ptr %pool, i32 0, i32 2
  %run = load ptr, ptr %run.at
  %all = call i32 %run(ptr %pool, i64 %n, i64 %grain, ptr %body, ptr %closure)
  ret i32 %all
nothing:
  ret i32 0
}

define internal ptr @workspace(ptr %rt, i32 %kind) nounwind {
  %of.call = icmp eq i32 %kind, 0
  br i1 %of.call, label %call, label %thread
call:
  %block.at = getelementptr %instance, ptr %rt, i32 0, i32 1
  %block = load ptr, ptr %block.at
  ret ptr %block
thread:
  %blocks.at = getelementptr %instance, ptr %rt, i32 0, i32 2
  %blocks = load ptr, ptr %blocks.at
  %pool.at = getelementptr %instance, ptr %rt, i32 0, i32 4
  %pool = load ptr, ptr %pool.at
  %alone = icmp eq ptr %pool, null
  %none = icmp eq ptr %blocks, null
  %first = or i1 %alone, %none
  br i1 %first, label %only, label %indexed
only:
  ret ptr %blocks
indexed:
  %index.at = getelementptr %pool, ptr %pool, i32 0, i32 3
  %index.function = load ptr, ptr %index.at
  %index = call i64 %index.function()
  %stride.at = getelementptr %instance, ptr %rt, i32 0, i32 3
  %stride = load i64, ptr %stride.at
  %offset = mul i64 %index, %stride
  %own = getelementptr i8, ptr %blocks, i64 %offset
  ret ptr %own
}

define internal void @print(ptr %rt, ptr %bytes, ptr %length) nounwind {
  ret void
}

define internal ptr @query(ptr %rt, ptr %name) nounwind {
  ret ptr null
}

; Copies the pattern as often as it fits; %bytes is a multiple of %step, which is 1, 2 or 4.
define internal void @fill(ptr %to, i64 %bytes, i64 %step, i32 %pattern) nounwind {
entry:
  %some = icmp sgt i64 %bytes, 0
  br i1 %some, label %loop, label %end
loop:
  %done = phi i64 [ 0, %entry ], [ %next, %stored ]
  %at = getelementptr i8, ptr %to, i64 %done
  switch i64 %step, label %four [ i64 1, label %one
                                  i64 2, label %two ]
one:
  %low = trunc i32 %pattern to i8
  store i8 %low, ptr %at, align 1
  br label %stored
two:
  %half = trunc i32 %pattern to i16
  store i16 %half, ptr %at, align 1
  br label %stored
four:
  store i32 %pattern, ptr %at, align 1
  br label %stored
stored:
  %next = add i64 %done, %step
  %more = icmp slt i64 %next, %bytes
  br i1 %more, label %loop, label %end
end:
  ret void
}

; As checksum() in weights.h.
define internal i64 @checksum(ptr %data, i64 %bytes) nounwind {
entry:
  %some = icmp sgt i64 %bytes, 0
  br i1 %some, label %loop, label %end
loop:
  %done = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i64 [ -3750763034362895579, %entry ], [ %mixed, %loop ]
  %at = getelementptr i8, ptr %data, i64 %done
  %word = load i64, ptr %at, align 8
  %changed = xor i64 %sum, %word
  %product = mul i64 %changed, 1099511628211
  %high = lshr i64 %product, 29
  %mixed = xor i64 %product, %high
  %next = add i64 %done, 8
  %more = icmp slt i64 %next, %bytes
  br i1 %more, label %loop, label %end
end:
  %result = phi i64 [ -3750763034362895579, %entry ], [ %mixed, %loop ]
  ret i64 %result
}
)";

std::unique_ptr<llvm::Module> parse_text(const std::string& text, llvm::LLVMContext& context,
                                         llvm::TargetMachine& machine, const Target& target) {
  // The parser gives loads and stores without one the alignment of the data layout.
  const std::string whole =
      "target datalayout = \"" + machine.createDataLayout().getStringRepresentation() + "\"\n" + text;
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(whole, problem, context);
  if (module == nullptr) {
    std::string message;
    llvm::raw_string_ostream stream(message);
    problem.print("runtime", stream, false);
    throw InternalError("the text of the exported runtime: " + stream.str());
  }
  configure_module(*module, machine, target);
  return module;
}

}  // namespace ferry::codegen
