#include "store/error.h"

#include <utility>

namespace assay::store {

std::string_view to_string(StoreErrorKind kind) {
  switch (kind) {
    case StoreErrorKind::Unavailable:
      return "unavailable";
    case StoreErrorKind::Timeout:
      return "timeout";
    case StoreErrorKind::InDoubt:
      return "in_doubt";
    case StoreErrorKind::Corrupt:
      return "corrupt";
    case StoreErrorKind::SchemaNewer:
      return "schema_newer";
    case StoreErrorKind::Internal:
      return "internal";
  }
  std::unreachable();
}

}  // namespace assay::store
