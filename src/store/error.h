#pragma once
// Why the store could not do what was asked.
#include <string>
#include <string_view>

namespace assay::store {

enum class StoreErrorKind {
  Unavailable,  // no connection, or the server ended the work before it was done; nothing was committed
  Timeout,      // the deadline passed; nothing was committed
  InDoubt,      // COMMIT was sent and its answer was lost: done or not done. Read again before deciding; never resend
  Corrupt,      // a stored row does not decode; it concerns the chat that was asked for and no other
  SchemaNewer,  // the database was migrated by a newer binary
  Internal,     // the statement or the schema is wrong: a fault of the program
};

std::string_view to_string(StoreErrorKind kind);

struct StoreError {
  StoreErrorKind kind = StoreErrorKind::Internal;
  std::string message;   // names no value of a row and no password
  std::string sqlstate;  // five characters; empty where the server said none
};

}  // namespace assay::store
