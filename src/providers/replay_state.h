#pragma once
// The `provider_state` of a message part: what a wire wrote down to send back later, under the wire's name. A state of
// another wire (the provider was configured anew) or one that cannot be read is as good as none.
#include <optional>
#include <string>
#include <string_view>

#include "json/document.h"
#include "providers/config.h"

namespace assay::providers {

// Requires: `item` is one JSON value.
[[nodiscard]] std::string replay_state(Wire wire, std::string_view item);

// The item as it was written.
[[nodiscard]] std::optional<json::Document> replayed_item(Wire wire, std::string_view state);

}  // namespace assay::providers
