# Language level, warnings, sanitizers, linker and compiler cache: the same for every target.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(THREADS_PREFER_PTHREAD_FLAG ON)

option(ASSAY_TESTS "Build the unit, database and whole-process tests" ON)
option(ASSAY_FUZZ "Build the libFuzzer targets (clang only)" OFF)
option(ASSAY_BENCH "Build the benchmarks" OFF)
set(ASSAY_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=")

find_program(ASSAY_CCACHE ccache)
if(ASSAY_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${ASSAY_CCACHE}")
endif()
find_program(ASSAY_MOLD mold)
if(ASSAY_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# -Wconversion means the same to both compilers only without sign conversions, which gcc leaves out for C++.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Werror
                    -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A ThreadSanitizer note about fences in Asio, false alarms of GCC 12 inside libstdc++ and about coroutine frames of
  # Asio, and one about `if` before a GoogleTest macro (clang knows both idioms and keeps these warnings on).
  add_compile_options(-Wno-dangling-else -Wno-mismatched-new-delete -Wno-tsan -Wno-maybe-uninitialized -Wno-restrict
                      -Wno-stringop-overflow -Wno-array-bounds)
endif()
if(ASSAY_SANITIZE)
  add_compile_options(-fsanitize=${ASSAY_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ASSAY_SANITIZE})
endif()
