// A request to clear findings that are repaired. `gpuward-exporter findings clear`, or a quarantine
// that has passed, leaves it as a file in the state folder (request_folder.h); the exporter takes
// it within a second, or at its next start.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/check_result.h"
#include "core/model/finding.h"
#include "core/model/result.h"
#include "exporter/store/request_folder.h"

namespace gpuward::exporter {

struct ClearRequest {
  // Clears all findings that only diagnostics or an operator clear; the other fields are ignored
  // then.
  bool all_operator = false;
  // Clears all that a GPU reset clears, of the GPU `pci_bus_id` or, if that is empty, of all GPUs.
  // A line of NVIDIA's driver without a GPU may belong to this one; if it does not, the driver will
  // report it again.
  bool after_gpu_reset = false;
  // The end of that reset: clears only findings that were not seen after it; nullopt: all.
  std::optional<WallTime> reset_ended{};
  // The start of a diagnostic that all GPUs have passed: clears the findings that diagnostics clear
  // and that were not seen after it.
  std::optional<WallTime> passed_diagnostic{};
  // The start of a test whose pass counts as an operator's decision: clears the findings that only
  // an operator clears and that were not seen after it.
  std::optional<WallTime> passed_for_operator{};
  // Otherwise clears this finding, in spite of its `cleared_by` and with any evidence.
  std::string check{}, code{}, pci_bus_id{};

  [[nodiscard]] bool matches(const Finding& finding) const;
  // Returns whether the diagnostic that has passed is newer and covers that result.
  [[nodiscard]] bool supersedes(const CheckResult& result) const;
};

class ClearRequests {
 public:
  explicit ClearRequests(const std::filesystem::path& state_folder)
      : folder_(state_folder / "clear.d") {}

  // Returns the file, which is gone once the request has been taken; `now` and the process make its
  // name.
  [[nodiscard]] Result<std::filesystem::path> leave(const ClearRequest& request,
                                                    WallTime now) const;

  struct Taken {
    std::vector<ClearRequest> requests;
    std::string fault;  // what could not be taken and why; empty if all was
  };
  // Removes what it returns, each request at most once. Cheap if there is none.
  [[nodiscard]] Taken take() const;

 private:
  RequestFolder folder_;
};

}  // namespace gpuward::exporter
