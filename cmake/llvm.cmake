# The interface target ferry_llvm. Only crosscompile/codegen/llvm and crosscompile/link use it, so no other folder sees
# the include paths of LLVM and lld. Programs that have the property FERRY_STATIC_LLVM contain the parts of LLVM that
# ferry uses, and run where no LLVM is installed. All others, the tests above all, link the shared libLLVM, which takes a
# link 0.1 s in place of 0.7, and each of them 70 MB less.

# Debian's version file requires the minor version too; 19 alone is refused.
find_package(LLVM 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19/lib/cmake/llvm)
find_package(LLD REQUIRED CONFIG HINTS "${LLVM_LIBRARY_DIR}/cmake/lld")

# crosscompile/codegen/llvm/cpu/targets.cpp registers the same ones.
set(FERRY_LLVM_TARGETS AArch64 ARM NVPTX RISCV X86)
llvm_map_components_to_libnames(ferry_llvm_parts
  AsmParser BitReader BitWriter CodeGen DebugInfoDWARF IRReader LTO Linker ObjCopy Option Passes ${FERRY_LLVM_TARGETS})

# lld registers every target that LLVM was built with, and its link-time optimisation calls Polly. Both would have to be
# linked; these do nothing instead.
set(ferry_llvm_stubs "#include <llvm/Passes/PassPlugin.h>\n\nextern \"C\" {\n")
foreach(target IN LISTS LLVM_TARGETS_TO_BUILD)
  if(NOT target IN_LIST FERRY_LLVM_TARGETS)
    foreach(part AsmParser AsmPrinter Disassembler Target TargetInfo TargetMC)
      string(APPEND ferry_llvm_stubs "void LLVMInitialize${target}${part}() {}\n")
    endforeach()
  endif()
endforeach()
string(APPEND ferry_llvm_stubs
  "}\n\nllvm::PassPluginLibraryInfo getPollyPluginInfo() { return {0, \"\", \"\", [](llvm::PassBuilder&) {}}; }\n")
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/llvm/stubs.cpp" CONTENT "${ferry_llvm_stubs}" @ONLY)
add_library(ferry_llvm_stubs STATIC "${PROJECT_BINARY_DIR}/llvm/stubs.cpp")
target_include_directories(ferry_llvm_stubs SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
# Only link-time optimisation refers to the extensions, whose one is Polly.
set_target_properties(LLVMExtensions PROPERTIES INTERFACE_LINK_LIBRARIES ferry_llvm_stubs)
set_target_properties(lldCommon lldELF PROPERTIES INTERFACE_LINK_LIBRARIES "")

add_library(ferry_llvm INTERFACE)
target_include_directories(ferry_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${LLD_INCLUDE_DIRS})
separate_arguments(ferry_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(ferry_llvm INTERFACE ${ferry_llvm_definitions})
set(is_static "$<BOOL:$<TARGET_PROPERTY:FERRY_STATIC_LLVM>>")
target_link_libraries(ferry_llvm INTERFACE lldELF lldCommon ZLIB::ZLIB zstd::libzstd_shared
  "$<IF:${is_static},${ferry_llvm_parts};ferry_llvm_stubs,LLVM>")
