#pragma once
// Expected failure is a value: a function that can fail for reasons outside the program returns Result.
// Each room names its own error type; nothing throws from one room into another.
#include <expected>
#include <utility>

namespace assay {

template <class T, class E>
using Result = std::expected<T, E>;

// Builds the failed Result: `return fail(JsonError{...});`
template <class E>
[[nodiscard]] constexpr auto fail(E&& error) {
  return std::unexpected<std::decay_t<E>>(std::forward<E>(error));
}

}  // namespace assay
