#pragma once
// The models that a configuration offers. Their ids are made of provider and model names alone, so every replica and
// every start has the same ones.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/uuid.h"
#include "cli/database.h"
#include "cli/serve_options.h"
#include "net/stop.h"
#include "net/task.h"
#include "providers/client.h"
#include "worker/catalogue.h"

namespace assay::cli {

// A version 8 UUID of the SHA-256 of both names (RFC 9562 section 5.8).
ModelConfigId model_config_id(std::string_view provider, std::string_view model);

// A provider without a configured model offers the first one that it lists; one that lists none within the patience is
// a failure that names it. Exactly one model is the default, where there is any.
net::Task<Result<std::vector<worker::ModelRoute>, CommandFailure>> resolve_models(const ServeOptions& options,
                                                                                  providers::ModelClient& client,
                                                                                  net::StopToken stop);

}  // namespace assay::cli
