// What somebody declares repaired. `gpuward-exporter findings clear`, or a quarantine that has
// passed, leaves the request as a file in the state folder (request_folder.h); the exporter takes
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
  // All findings that only diagnostics or a person clear; the other fields then mean nothing.
  bool all_operator = false;
  // All that a GPU reset clears, of the GPU `pci_bus_id` or, if that is empty, of all GPUs. A line
  // of NVIDIA's driver that names no GPU may be of this one; if it is not, the driver says so
  // again.
  bool after_gpu_reset = false;
  // When that reset ended: of its findings those that were not seen again after it; nullopt: all.
  std::optional<WallTime> reset_ended{};
  // When a diagnostic began that all GPUs have passed since: all that diagnostics clear and that
  // was not seen again after it.
  std::optional<WallTime> passed_diagnostic{};
  // When a test began whose pass stands for the operator's word: all that only an operator clears
  // and that was not seen again after it.
  std::optional<WallTime> passed_for_operator{};
  // Else that one, whatever clears it otherwise and of either evidence.
  std::string check{}, code{}, pci_bus_id{};

  [[nodiscard]] bool matches(const Finding& finding) const;
  // Whether the diagnostic that has passed says more than that result of one before it.
  [[nodiscard]] bool supersedes(const CheckResult& result) const;
};

class ClearRequests {
 public:
  explicit ClearRequests(const std::filesystem::path& state_folder)
      : folder_(state_folder / "clear.d") {}

  // The file that is gone once the request has been taken; `now` and the process make its name.
  [[nodiscard]] Result<std::filesystem::path> leave(const ClearRequest& request,
                                                    WallTime now) const;

  struct Taken {
    std::vector<ClearRequest> requests;
    std::string fault;  // what could not be taken, and why; empty if nothing
  };
  // Removes what it returns, each at most once. Cheap where there is nothing.
  [[nodiscard]] Taken take() const;

 private:
  RequestFolder folder_;
};

}  // namespace gpuward::exporter
