#pragma once
// A value that tests can change, and texts made at random from a small vocabulary, so that keys and values meet often.
#include <string>
#include <vector>

#include "base/random.h"
#include "json/document.h"

namespace assay::reference {

struct Tree {
  json::Kind kind = json::Kind::Null;
  std::string literal;  // scalars, as JSON
  std::vector<Tree> children;
  std::vector<std::string> keys;  // of an object's children, as JSON
};

[[nodiscard]] Tree read_tree(json::Value value);
[[nodiscard]] std::string print(const Tree& tree);

[[nodiscard]] Tree random_value(SeededRandom& random, int depth);
// One small change somewhere: another value, a key or an element more or less, another spelling of a number.
void mutate(SeededRandom& random, Tree& tree);

// A schema within the vocabulary that the reference knows; not always within the limits.
[[nodiscard]] std::string random_schema(SeededRandom& random, int depth);

}  // namespace assay::reference
