#pragma once
#include <exception>
#include <string>

namespace assay::net {

// What an exception says of itself, for the log. Requires: exception is set.
std::string exception_text(const std::exception_ptr& exception);

}  // namespace assay::net
