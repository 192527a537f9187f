# Compiler and linker settings that every target shares, on the host and on the device.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

add_compile_options(-Wall -Wextra -Wshadow -Werror -Werror=switch)
# Otherwise Asio marks its types for export from libferry.so.
add_compile_definitions(ASIO_DISABLE_VISIBILITY)

find_program(FERRY_CCACHE ccache)
if(FERRY_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER "${FERRY_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${FERRY_CCACHE}")
endif()

if(FERRY_SANITIZE)
  add_compile_options(-fsanitize=${FERRY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${FERRY_SANITIZE})
  if(FERRY_SANITIZE MATCHES thread)
    # g++ warns of the fences of Asio, on which no order of ours depends: queues have mutexes.
    add_compile_options(-Wno-tsan)
  endif()
endif()

if(FERRY_LIBFUZZER)
  # Only g++ is required to compile without warnings.
  add_compile_options(-fsanitize=fuzzer-no-link -Wno-error)
endif()

if(NOT FERRY_DEVICE)
  # The static libraries also become part of libferry.so.
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)

  # Linking against LLVM takes GNU ld half a second and lld a tenth of a second. g++ finds the linker only by the name
  # ld.lld, which Debian gives to the first lld that was installed, so a folder of our own with that name is put first
  # in its search path.
  find_program(FERRY_LLD NAMES ld.lld-19 ld.lld)
  find_program(FERRY_GOLD NAMES ld.gold)
  if(FERRY_LLD)
    file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/linker")
    file(CREATE_LINK "${FERRY_LLD}" "${CMAKE_BINARY_DIR}/linker/ld.lld" SYMBOLIC)
    add_link_options("-B${CMAKE_BINARY_DIR}/linker" -fuse-ld=lld)
  elseif(FERRY_GOLD)
    add_link_options(-fuse-ld=gold)
  endif()
endif()
