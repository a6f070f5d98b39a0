// Reads and writes Remediations in the API server, as values. All such requests of the program are
// here. Used by the intake, the reconciler and the commands of operators.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/api.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Thread-safe. Errors are those of kube::Api; after kConflict the caller reads again and repeats
// its change.
class RemediationStore {
 public:
  explicit RemediationStore(kube::Api& api) : api_(api) {}

  [[nodiscard]] Result<Remediation> read(std::string_view name);
  // Returns all Remediations of one node UID, closed ones included, oldest first.
  [[nodiscard]] Result<std::vector<Remediation>> list_for(std::string_view node_uid);
  // Returns all Remediations, except those that cannot be parsed after an operator's edit.
  [[nodiscard]] Result<std::vector<Remediation>> list_all();
  [[nodiscard]] Result<Remediation> create(const Remediation& remediation);
  // Write with compare-and-set on remediation.resource_version. Return the value after the write.
  [[nodiscard]] Result<Remediation> write_evidence(const Remediation& remediation);
  [[nodiscard]] Result<Remediation> write_status(const Remediation& remediation);
  // Sets an operator's annotations, or removes an annotation without a value. Uses compare-and-set
  // too.
  using Wishes = std::map<std::string_view, std::optional<std::string>>;
  [[nodiscard]] Status annotate(const Remediation& remediation, const Wishes& wishes);
  // Removes gpuward's finalizer from a Remediation that is being deleted. Returns kNotFound if it
  // is already gone.
  [[nodiscard]] Status let_go(const Remediation& remediation);
  // Deletes exactly this Remediation, by its UID. Returns kNotFound if it is already gone.
  [[nodiscard]] Status remove(const Remediation& remediation);

 private:
  [[nodiscard]] Result<std::vector<Remediation>> list(const std::string& selector);

  kube::Api& api_;
};

}  // namespace gpuward::remediator
