#include <gmock/gmock.h>

#include "database/test_database.h"
#include "net/task_group.h"
#include "store/people.h"

namespace assay::store {
namespace {

using test_database::in_test_time;
using test_database::StoreTest;

class PeopleTest : public StoreTest {
 protected:
  People& people() { return store_->people(); }
  User create(std::string name) {
    return get(people().create_user_if_missing(std::move(name), system_random(), in_test_time())).value();
  }
};

TEST_F(PeopleTest, AUserIsCreatedOnceInTheDefaultOrganisation) {
  const User ada = create("ada");
  EXPECT_EQ(ada.username, "ada");
  EXPECT_EQ(create("ada").id, ada.id);
  EXPECT_NE(create("bob").id, ada.id);
  EXPECT_EQ(create("bob").organization_id, ada.organization_id);
  EXPECT_EQ(database.value("select id from organizations where is_default"), ada.organization_id.to_string());
}

TEST_F(PeopleTest, ATokenNamesItsUserAndIsStoredAsAHashAlone) {
  const User ada = create("ada");
  const std::string first = get(people().create_token(ada.id, system_random(), in_test_time())).value();
  const std::string second = get(people().create_token(ada.id, system_random(), in_test_time())).value();
  EXPECT_NE(first, second);
  for (const std::string& token : {first, second}) {
    const auto found = get(people().find_user_by_token(token, in_test_time()));
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->id, ada.id);
    EXPECT_EQ((*found)->organization_id, ada.organization_id);
  }
  for (const std::string& wrong : {std::string(), std::string("assay_"), first + "0", first.substr(1)}) {
    EXPECT_FALSE(get(people().find_user_by_token(wrong, in_test_time())).value().has_value()) << wrong;
  }
  EXPECT_EQ(database.value("select count(*) from api_tokens where token_hash = sha256('" + first + "')"), "1");
  EXPECT_EQ(database.value("select count(*) from api_tokens where encode(token_hash, 'escape') like '%assay%'"), "0");
}

TEST_F(PeopleTest, ATokenNeedsAUser) {
  const auto failed = get(people().create_token(UserId::random(system_random()), system_random(), in_test_time()));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().sqlstate, "23503");
}

TEST(Username, HasItsAlphabetAndLimit) {
  EXPECT_TRUE(is_valid_username("a"));
  EXPECT_TRUE(is_valid_username("Ada.Lovelace_1-x"));
  EXPECT_TRUE(is_valid_username(std::string(kUsernameBytesMax, 'a')));
  EXPECT_FALSE(is_valid_username(std::string(kUsernameBytesMax + 1, 'a')));
  for (const std::string_view name : {"", "-a", ".a", "a b", "a\n", "\xC3\xA9", "a/b"}) {
    EXPECT_FALSE(is_valid_username(name)) << name;
  }
}

}  // namespace
}  // namespace assay::store
