#pragma once
// Hashes for tables that outside bytes fill: without the seed nobody can choose inputs that collide.
#include <cstdint>
#include <string_view>

namespace assay::json {

// Of all bytes.
[[nodiscard]] std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed);

// Of two hashes, in this order.
[[nodiscard]] std::uint64_t hash_pair(std::uint64_t first, std::uint64_t second, std::uint64_t seed);

// Random, the same for the life of the process.
[[nodiscard]] std::uint64_t process_seed();

}  // namespace assay::json
