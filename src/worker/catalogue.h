#pragma once
// The models that this deployment offers, each with the way to call it. Fixed once the server runs.
#include <string>
#include <vector>

#include "base/uuid.h"
#include "chat/model.h"
#include "providers/config.h"

namespace assay::worker {

struct ModelRoute {
  chat::ModelDescription description;
  providers::ProviderConfig provider;
  providers::ModelSettings settings;  // its reasoning effort is where the chat asks for none
};

class Catalogue {
 public:
  explicit Catalogue(std::vector<ModelRoute> routes) : routes_(std::move(routes)) {}

  // Null: not configured any more. Lifetime: the catalogue's.
  [[nodiscard]] const ModelRoute* find(const ModelConfigId& id) const;
  [[nodiscard]] std::vector<chat::ModelDescription> descriptions() const;

 private:
  std::vector<ModelRoute> routes_;
};

}  // namespace assay::worker
