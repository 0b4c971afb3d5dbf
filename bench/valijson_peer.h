#pragma once
// valijson over RapidJSON, behind a wall: its headers take long to compile.
#include <memory>
#include <string>
#include <vector>

namespace assay::bench {

class ValijsonPeer {
 public:
  explicit ValijsonPeer(const std::string& schema);
  ~ValijsonPeer();
  ValijsonPeer(const ValijsonPeer&) = delete;
  ValijsonPeer& operator=(const ValijsonPeer&) = delete;

  bool parse_and_validate(const std::string& text);
  // Parses documents for validate_kept, which returns how many are valid.
  void keep(const std::vector<std::string>& documents);
  std::size_t validate_kept();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace assay::bench
