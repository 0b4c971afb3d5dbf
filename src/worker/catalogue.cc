#include "worker/catalogue.h"

namespace assay::worker {

const ModelRoute* Catalogue::find(const ModelConfigId& id) const {
  for (const ModelRoute& route : routes_) {
    if (route.description.id == id) return &route;
  }
  return nullptr;
}

std::vector<chat::ModelDescription> Catalogue::descriptions() const {
  std::vector<chat::ModelDescription> descriptions;
  for (const ModelRoute& route : routes_) descriptions.push_back(route.description);
  return descriptions;
}

}  // namespace assay::worker
