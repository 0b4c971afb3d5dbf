# Every outside library, all from Debian 12 (`scripts/bootstrap` installs them). Rooms name what they link.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(CURL 7.88 REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(PostgreSQL REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
if(ASSAY_TESTS)
  # Whoever only builds and runs the server (scripts/quickstart) need not have it.
  find_package(GTest)
  if(NOT GTest_FOUND)
    message(STATUS "GoogleTest is not installed (scripts/bootstrap --test): the tests are left out of this build")
    set(ASSAY_TESTS OFF)
  endif()
endif()

# Boost.Asio as the house uses it: header only, but compiled once (src/net/asio.cc), no deprecated parts.
add_library(assay_boost INTERFACE)
target_include_directories(assay_boost SYSTEM INTERFACE ${Boost_INCLUDE_DIRS})
target_compile_definitions(assay_boost INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_SEPARATE_COMPILATION
                           BOOST_BEAST_SEPARATE_COMPILATION)
target_link_libraries(assay_boost INTERFACE Threads::Threads)

add_library(assay_libpq INTERFACE)
target_include_directories(assay_libpq SYSTEM INTERFACE ${PostgreSQL_INCLUDE_DIRS})
target_link_libraries(assay_libpq INTERFACE ${PostgreSQL_LIBRARIES})
