# The functions that the folders' CMakeLists.txt use.

define_property(GLOBAL PROPERTY FERRY_LIBRARIES BRIEF_DOCS "Every ferry_library that has sources")
define_property(GLOBAL PROPERTY FERRY_SYSTEM_DEPS BRIEF_DOCS "Other people's libraries that they link")

# Internal headers are included from the root, public ones from include/.
set(FERRY_INCLUDE_DIRS "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")

# Adds those of the named folders that have a CMakeLists.txt and are not below one of FERRY_LEFT_OUT.
function(ferry_add_subdirectories)
  foreach(folder IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH folder OUTPUT_VARIABLE path)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set(is_left_out OFF)
    foreach(left_out IN LISTS FERRY_LEFT_OUT)
      if("${path}/" MATCHES "^${left_out}/")
        set(is_left_out ON)
      endif()
    endforeach()
    if(NOT is_left_out AND EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt")
      add_subdirectory(${folder})
    endif()
  endforeach()
endfunction()

# Sets the variable `name` to the current folder's *.cpp and those of the named folders in it.
function(ferry_sources name)
  set(patterns "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  foreach(folder IN LISTS ARGN)
    list(APPEND patterns "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp")
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  set(${name} "${sources}" PARENT_SCOPE)
endfunction()

# ferry_library(NAME [EXPORTED] [DEPS ferry_...] [SYSTEM_DEPS ...] [FAST ...]) makes a static library (an interface library
# if there are no *.cpp). layers.json says of which folders a library of the product consists and which others it uses;
# those of tests and examples consist of the current folder and name their DEPS. DEPS are passed on to users; SYSTEM_DEPS,
# third-party libraries, are only linked, so a folder cannot use one that it does not name. EXPORTED marks folders whose
# headers are installed: libferry.so exports everything that they define; of other folders it exports only what is marked
# FERRY_API. FAST names files that every call of a kernel passes through: device builds compile them for speed and all
# others for size.
function(ferry_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EXPORTED" "" "DEPS;SYSTEM_DEPS;FAST")
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE here)
  get_property(folders GLOBAL PROPERTY FERRY_FOLDERS_OF_${name})
  if(folders)
    if(arg_DEPS)
      message(FATAL_ERROR "${here}: expected cmake/layers.json to say what ${name} uses, got DEPS")
    endif()
    list(TRANSFORM folders REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/\\1/*.cpp" OUTPUT_VARIABLE patterns)
    file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  elseif(here MATCHES "^(tests|bench|examples)/")
    ferry_sources(sources)
  else()
    message(FATAL_ERROR "${here}: expected a folder of cmake/layers.json with the library ${name}, got none")
  endif()
  if(sources)
    add_library(${name} STATIC ${sources})
    target_include_directories(${name} PUBLIC ${FERRY_INCLUDE_DIRS})
    target_link_libraries(${name} PUBLIC ${arg_DEPS} PRIVATE ${arg_SYSTEM_DEPS})
    set(scope PUBLIC)
    foreach(file IN LISTS arg_FAST)
      if(NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
        message(FATAL_ERROR "${here}: expected FAST to name files of the folder, got ${file}")
      endif()
    endforeach()
    if(arg_FAST AND FERRY_DEVICE)
      set_source_files_properties(${arg_FAST} PROPERTIES COMPILE_OPTIONS -O2)
    endif()
    if(arg_EXPORTED AND NOT FERRY_DEVICE)
      set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET default)
    endif()
    set_property(GLOBAL APPEND PROPERTY FERRY_LIBRARIES ${name})
    set_property(GLOBAL APPEND PROPERTY FERRY_SYSTEM_DEPS ${arg_SYSTEM_DEPS})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${FERRY_INCLUDE_DIRS})
    target_link_libraries(${name} INTERFACE ${arg_DEPS})
    set(scope INTERFACE)
  endif()
  if(folders)
    ferry_link_folders(${name} ${scope} ${folders})
  endif()
endfunction()

# ferry_test_slots(NAME [WAITS SECONDS]) says what a test takes of the machine: scripts/test.sh lets four slots run at a
# time for each processor, of which a test that computes takes two, because hardly any computes all the time. One that
# WAITS for most of so many SECONDS takes one. Four of those run at a time, as locks have it: with more, all would wait at
# the same time, and none be left beside the tests that compute. It also names the folder where PoCL keeps kernels.
function(ferry_test_slots name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "WAITS" "")
  # PoCL takes a second to compile a kernel, so sessions of all tests share what it compiled.
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/pocl")
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
    "POCL_CACHE_DIR=${PROJECT_BINARY_DIR}/pocl" "FERRY_GPU_FOLDERS=${PROJECT_BINARY_DIR}/pocl")
  if(NOT arg_WAITS)
    set_tests_properties(${name} PROPERTIES PROCESSORS 2)
    return()
  endif()
  # The lock whose tests take the shortest time so far, those of long runs apart.
  get_test_property(${name} LABELS labels)
  set(run short)
  if("long" IN_LIST labels)
    set(run long)
  endif()
  set(least 1000000)
  foreach(lock 0 1 2 3)
    get_property(seconds GLOBAL PROPERTY FERRY_WAITING_${run}_${lock})
    math(EXPR seconds "0${seconds} + ${arg_WAITS}")
    if(seconds LESS least)
      set(least ${seconds})
      set(chosen ${lock})
    endif()
  endforeach()
  set_property(GLOBAL PROPERTY FERRY_WAITING_${run}_${chosen} ${least})
  # They start before all others, so that there are some of both kinds for as long as possible.
  math(EXPR cost "1000 + ${arg_WAITS}")
  set_tests_properties(${name} PROPERTIES PROCESSORS 1 RESOURCE_LOCK waiting_${chosen} COST ${cost})
endfunction()

# ferry_test_shares(LOCK NAME ...) keeps the tests from running at the same time as others that share what LOCK names.
function(ferry_test_shares lock)
  foreach(name IN LISTS ARGN)
    set_property(TEST ${name} APPEND PROPERTY RESOURCE_LOCK ${lock})
  endforeach()
endfunction()

# ferry_test_run(NAME PROGRAM [ARGUMENTS ...] [ENVIRONMENT ...] [LABELS ...] [TIMEOUT SECONDS] [WAITS SECONDS | SERIAL])
# registers a run of a doctest program with ctest, from the repository's root. TIMEOUT is for tests that need more than
# the five minutes that others get. SERIAL keeps other tests from running at the same time; ferry_test_slots explains
# WAITS.
function(ferry_test_run name program)
  cmake_parse_arguments(PARSE_ARGV 2 arg "SERIAL" "TIMEOUT;WAITS" "ARGUMENTS;ENVIRONMENT;LABELS")
  if(arg_TIMEOUT)
    set(cost ${arg_TIMEOUT})
  else()
    set(cost 120)
    set(arg_TIMEOUT 300)  # one that takes 30 s alone took 140 s on a busy machine
  endif()
  if(FERRY_SANITIZE)
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 10")  # unoptimised and instrumented
  endif()
  add_test(NAME ${name} COMMAND ${program} ${arg_ARGUMENTS} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  # Long tests start first, so that only short ones remain at the end.
  set_tests_properties(${name} PROPERTIES
    TIMEOUT ${arg_TIMEOUT} COST ${cost} LABELS "${arg_LABELS}" ENVIRONMENT "${arg_ENVIRONMENT}")
  if(arg_SERIAL)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  elseif(arg_WAITS)
    ferry_test_slots(${name} WAITS ${arg_WAITS})
  else()
    ferry_test_slots(${name})
  endif()
endfunction()

# ferry_test(NAME [FOLDERS ...] DEPS ... [ARGUMENTS ...] [LABELS ...] [TIMEOUT SECONDS]
# [WAITS SECONDS | SERIAL]) makes one doctest program of the current folder's *.cpp and registers a run of it.
function(ferry_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL" "TIMEOUT;WAITS" "ARGUMENTS;FOLDERS;DEPS;LABELS")
  ferry_sources(sources ${arg_FOLDERS})
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources} $<TARGET_OBJECTS:ferry_doctest_main>)
  target_include_directories(${name} PRIVATE ${FERRY_INCLUDE_DIRS})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} Threads::Threads)
  # Takes a third less time to compile than -O2. What computes much, such as tests/support, is in libraries.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-Og>)
  set(kind)
  if(arg_SERIAL)
    set(kind SERIAL)
  elseif(arg_WAITS)
    set(kind WAITS ${arg_WAITS})
  endif()
  ferry_test_run(${name} ${name} ARGUMENTS ${arg_ARGUMENTS} LABELS ${arg_LABELS} TIMEOUT ${arg_TIMEOUT} ${kind})
endfunction()
