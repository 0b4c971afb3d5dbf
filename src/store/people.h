#pragma once
// Users, their organisation and their API tokens. Tokens are kept as SHA-256 hashes alone.
#include <optional>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "base/uuid.h"
#include "net/task.h"
#include "store/error.h"

namespace assay::store {

class Pool;

struct User {
  UserId id;
  OrganizationId organization_id;
  std::string username;
  WallTime created_at{};
};

inline constexpr std::size_t kUsernameBytesMax = 64;
inline constexpr std::size_t kTokenRandomBytes = 32;

// Loop thread only. Lifetime: the pool outlives it.
class People {
 public:
  explicit People(Pool& pool) : pool_(pool) {}

  // nullopt: no such token.
  net::Task<Result<std::optional<User>, StoreError>> find_user_by_token(std::string token, Deadline deadline);
  // The user of that name, made a member of the default organisation where it is new.
  // Requires: is_valid_username(username).
  net::Task<Result<User, StoreError>> create_user_if_missing(std::string username, Random& random, Deadline deadline);
  // Returns the plain token, which nobody can read again.
  net::Task<Result<std::string, StoreError>> create_token(UserId user, Random& random, Deadline deadline);

 private:
  Pool& pool_;
};

// 1 to kUsernameBytesMax of a-z, A-Z, 0-9, '-', '_' and '.', beginning with a letter or digit.
bool is_valid_username(std::string_view name);

}  // namespace assay::store
