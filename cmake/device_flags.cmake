# How the device's code is built: as small as it can be without losing exceptions, which Asio and cereal throw.
# Included after flags.cmake, by device configurations alone.

set(CMAKE_C_FLAGS_RELEASE "-Os -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-Os -DNDEBUG")

add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections -Wl,--as-needed -Wl,-O1 -Wl,--build-id=none -Wl,-z,noseparate-code)

# cereal's access.hpp includes <iostream>, whose static initialiser would link 450 KB of locale code.
include_directories(BEFORE SYSTEM "${PROJECT_SOURCE_DIR}/device-runtime/stub")
# 32-bit boards with large disks have inode numbers that the old calls refuse to report.
add_compile_definitions(_FILE_OFFSET_BITS=64)

# Only the supervisor runs Asio's loop, and it is single-threaded; the plain executor type costs less code. Together
# 28 KB on aarch64.
add_compile_definitions(ASIO_NO_IOSTREAM ASIO_DISABLE_THREADS ASIO_USE_TS_EXECUTOR_AS_DEFAULT)

# Optimising all objects together saves another tenth. Whatever only a kernel refers to must be in a [[gnu::used]] table.
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
add_link_options(-flto-partition=one)
