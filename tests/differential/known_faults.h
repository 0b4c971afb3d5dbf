#pragma once
// Where the peers are known to err, each with the clause of the specification that says so. A disagreement that no
// entry explains is a fault of assay's until shown otherwise.
//
// "Core" is draft-handrews-json-schema-01, "Validation" draft-handrews-json-schema-validation-01 (both Draft-07).
#include <span>
#include <string_view>

#include "json/document.h"

namespace assay::differential {

enum class Peer { Ajv, Python };
inline constexpr Peer kPeers[] = {Peer::Ajv, Peer::Python};
[[nodiscard]] std::string_view name_of(Peer peer);

struct KnownFault {
  Peer peer;
  std::string_view fault;
  std::string_view clause;
  // Whether schema and instance hold what the fault is about.
  bool (*concerns)(json::Value schema, json::Value instance);
  // An example that the peer must still get wrong, or the entry has to go.
  std::string_view schema;
  std::string_view instance;
};

[[nodiscard]] std::span<const KnownFault> known_faults();

}  // namespace assay::differential
