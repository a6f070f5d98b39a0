// Remediations in the API server, as values. All reads and writes of them are here; used by intake,
// reconciler and the commands of operators.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/api.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Thread-safe. Errors are those of kube::Api: kConflict = read again and redo.
class RemediationStore {
 public:
  explicit RemediationStore(kube::Api& api) : api_(api) {}

  [[nodiscard]] Result<Remediation> read(std::string_view name);
  // Returns all of one node UID, closed ones included, oldest first.
  [[nodiscard]] Result<std::vector<Remediation>> list_for(std::string_view node_uid);
  // Returns all, except any that an operator has broken.
  [[nodiscard]] Result<std::vector<Remediation>> list_all();
  [[nodiscard]] Result<Remediation> create(const Remediation& remediation);
  // Compare-and-set on remediation.resource_version; returns the value after the write.
  [[nodiscard]] Result<Remediation> write_evidence(const Remediation& remediation);
  [[nodiscard]] Result<Remediation> write_status(const Remediation& remediation);
  // Sets or, without a value, removes an operator's annotations; compare-and-set too.
  using Wishes = std::map<std::string_view, std::optional<std::string>>;
  [[nodiscard]] Status annotate(const Remediation& remediation, const Wishes& wishes);
  // Removes gpuward's finalizer from one that is being deleted. kNotFound: it is gone already.
  [[nodiscard]] Status let_go(const Remediation& remediation);
  // Deletes exactly that one. kNotFound: it is gone already.
  [[nodiscard]] Status remove(const Remediation& remediation);

 private:
  [[nodiscard]] Result<std::vector<Remediation>> list(const std::string& selector);

  kube::Api& api_;
};

}  // namespace gpuward::remediator
