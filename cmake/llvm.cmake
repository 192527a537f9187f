# The interface target ferry_llvm. Only crosscompile/codegen/llvm and crosscompile/link use it, so no other folder sees
# the include paths of LLVM and lld. liblldELF is static and libLLVM shared, which makes a link take 0.1 s.

# Debian's version file requires the minor version too; 19 alone is refused.
find_package(LLVM 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19/lib/cmake/llvm)
find_package(LLD REQUIRED CONFIG HINTS "${LLVM_LIBRARY_DIR}/cmake/lld")

add_library(ferry_llvm INTERFACE)
target_include_directories(ferry_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${LLD_INCLUDE_DIRS})
separate_arguments(ferry_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(ferry_llvm INTERFACE ${ferry_llvm_definitions})
target_link_libraries(ferry_llvm INTERFACE lldELF lldCommon LLVM)
