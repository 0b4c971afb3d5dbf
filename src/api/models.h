#pragma once
// The listings of models in the shapes of the public API. Pure.
#include <string>

#include "api/request.h"
#include "base/time.h"
#include "base/uuid.h"

namespace assay::api {

// `{"models", "providers", "unsupported_providers"}`. Models come from the configuration: their times are the start's.
std::string organization_models_json(const Offer& offer, OrganizationId organization, WallTime started_at);

// The older listing: a bare array.
std::string model_configs_json(const Offer& offer, OrganizationId organization, WallTime started_at);

// A configured provider's id, the same on every replica: derived from its name (RFC 9562 section 5.8).
Uuid provider_id(std::string_view name);

}  // namespace assay::api
