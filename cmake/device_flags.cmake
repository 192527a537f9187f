# Flags of the device's code: it is as small as possible while keeping exceptions, which Asio and cereal throw. Included
# after flags.cmake, only by device configurations.

set(CMAKE_C_FLAGS_RELEASE "-Oz -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-Oz -DNDEBUG")

add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections -Wl,--as-needed -Wl,-O1 -Wl,--build-id=none -Wl,-z,noseparate-code)

# cereal's access.hpp includes <iostream>, whose static initialiser would link 450 KB of locale code.
include_directories(BEFORE SYSTEM "${PROJECT_SOURCE_DIR}/device-runtime/stub")
# 32-bit boards with large disks have inode numbers that the old system calls cannot report.
add_compile_definitions(_FILE_OFFSET_BITS=64)

# Only the supervisor runs Asio's loop, and it is single-threaded; the plain executor type needs less code. Together
# these settings save 28 KB on aarch64.
add_compile_definitions(ASIO_NO_IOSTREAM ASIO_NO_TYPEID ASIO_DISABLE_THREADS ASIO_USE_TS_EXECUTOR_AS_DEFAULT)

# Headers are most of what a file costs here, so eight files of a folder are compiled as one: a folder's helpers need
# names of their own. On riscv64 this makes rpc_server up to 4 KB larger; elsewhere as much smaller.
if(NOT FERRY_ARCH STREQUAL riscv64)
  set(CMAKE_UNITY_BUILD ON)
endif()

# Link-time optimisation of all objects together saves another tenth. Anything that only a kernel refers to must be in a
# [[gnu::used]] table.
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
add_link_options(-flto-partition=one)
