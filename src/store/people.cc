#include "store/people.h"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <array>
#include <span>
#include <utility>

#include "base/check.h"
#include "store/pool.h"
#include "store/query.h"
#include "store/statements.h"

namespace assay::store {

namespace {

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string digits;
  for (const std::uint8_t byte : bytes) digits += fmt::format("{:02x}", byte);
  return digits;
}

// The stored form of a token, as a bytea literal.
std::string token_hash(std::string_view token) {
  std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const std::uint8_t*>(token.data()), token.size(), digest.data());
  return "\\x" + hex(digest);
}

std::optional<User> read_user(const Rows& rows) {
  if (rows.size() == 0) return std::nullopt;
  User user;
  user.id = UserId{rows.uuid(0, 0)};
  user.organization_id = OrganizationId{rows.uuid(0, 1)};
  user.username = rows.text(0, 2);
  user.created_at = rows.instant(0, 3);
  return user;
}

bool is_letter_or_digit(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
}

}  // namespace

bool is_valid_username(std::string_view name) {
  if (name.empty() || name.size() > kUsernameBytesMax || !is_letter_or_digit(name.front())) return false;
  for (const char byte : name) {
    if (!is_letter_or_digit(byte) && byte != '-' && byte != '_' && byte != '.') return false;
  }
  return true;
}

net::Task<Result<std::optional<User>, StoreError>> People::find_user_by_token(std::string token, Deadline deadline) {
  Params params;
  params.text(token_hash(token));
  auto rows = co_await query(pool_, statements::kUserByToken, std::move(params), deadline);
  if (!rows) co_return fail(std::move(rows).error());
  co_return read_user(*rows);
}

net::Task<Result<User, StoreError>> People::create_user_if_missing(std::string username, Random& random,
                                                                   Deadline deadline) {
  ASSAY_CHECK(is_valid_username(username), "the caller checks user names");
  Batch batch;
  batch.add(statements::kInsertUser, Params().uuid(UserId::random(random)).text(username));
  batch.add(statements::kJoinDefaultOrganization, Params().text(username));
  batch.add(statements::kUserByName, Params().text(username));
  auto answers = co_await query(pool_, std::move(batch), deadline);
  if (!answers) co_return fail(std::move(answers).error());
  auto user = read_user((*answers)[2]);
  if (!user) co_return fail(StoreError{StoreErrorKind::Internal, "the new user belongs to no organisation", ""});
  co_return std::move(*user);
}

net::Task<Result<std::string, StoreError>> People::create_token(UserId user, Random& random, Deadline deadline) {
  std::array<std::uint8_t, kTokenRandomBytes> secret{};
  random.fill(secret);
  std::string token = "assay_" + hex(secret);
  Params params;
  params.text(token_hash(token)).uuid(user);
  auto rows = co_await query(pool_, statements::kInsertToken, std::move(params), deadline);
  if (!rows) co_return fail(std::move(rows).error());
  co_return std::move(token);
}

}  // namespace assay::store
