# The interface target ferry_llvm. Only crosscompile/codegen/llvm and crosscompile/link use it, so no other folder sees
# the include paths of LLVM and lld.

# Debian's version file requires the minor version too; 19 alone is refused.
find_package(LLVM 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19/lib/cmake/llvm)
find_package(LLD REQUIRED CONFIG HINTS "${LLVM_LIBRARY_DIR}/cmake/lld")

# Objects are compiled for any of LLVM's targets, but what is self-contained leaves out those without an operating system, and
# AMD's GPUs, which get OpenCL C: 20 MB.
set(ferry_llvm_targets ${LLVM_TARGETS_TO_BUILD})
set(ferry_left_out_targets AMDGPU AVR BPF Lanai MSP430 XCore)
list(REMOVE_ITEM ferry_llvm_targets ${ferry_left_out_targets})
llvm_map_components_to_libnames(ferry_llvm_parts AsmParser BitReader BitWriter CodeGen DebugInfoDWARF IRReader LTO Linker
  MCA ObjCopy Option Passes RISCVTargetMCA ${ferry_llvm_targets})
# LLVM's headers and lld call the initializers of all targets.
set(initializers "")
foreach(target IN LISTS ferry_left_out_targets)
  foreach(part TargetInfo Target TargetMC AsmPrinter AsmParser Disassembler)
    string(APPEND initializers "void LLVMInitialize${target}${part}() {}\n")
  endforeach()
endforeach()
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/llvm/left_out_targets.cpp" CONTENT "extern \"C\" {\n@initializers@}\n" @ONLY)
add_library(ferry_left_out_targets STATIC "${PROJECT_BINARY_DIR}/llvm/left_out_targets.cpp")

# lld's link-time optimisation, which nothing here uses, calls Polly, which would have to be linked.
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/llvm/polly.cpp" CONTENT
"#include <llvm/Passes/PassPlugin.h>

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {0, \"\", \"\", [](llvm::PassBuilder&) {}};
}
" @ONLY)
add_library(ferry_no_polly STATIC "${PROJECT_BINARY_DIR}/llvm/polly.cpp")
target_include_directories(ferry_no_polly SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
# Only link-time optimisation refers to the extensions, whose one is Polly.
set_target_properties(LLVMExtensions PROPERTIES INTERFACE_LINK_LIBRARIES ferry_no_polly)
set_target_properties(lldCommon lldELF PROPERTIES INTERFACE_LINK_LIBRARIES "")
# Its dependencies are the system's C library, and the two below; of the solver Z3 nothing here has need.
set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES LLVMDemangle)

add_library(ferry_llvm INTERFACE)
target_include_directories(ferry_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${LLD_INCLUDE_DIRS})
separate_arguments(ferry_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(ferry_llvm INTERFACE ${ferry_llvm_definitions})
target_link_libraries(ferry_llvm INTERFACE lldELF lldCommon
  "$<IF:${FERRY_IS_SELF_CONTAINED},${ferry_llvm_parts};ferry_no_polly;ferry_left_out_targets,LLVM>")
ferry_link_static_or_shared(ferry_llvm z ZLIB::ZLIB)
ferry_link_static_or_shared(ferry_llvm zstd zstd::libzstd_shared)
