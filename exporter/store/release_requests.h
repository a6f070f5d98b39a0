// Requests of programs that need the GPUs of this node for themselves, such as a reset: one file in
// the state folder for each, valid until its owner removes it, its time is over, or the node boots
// again. `gpuward-exporter gpu-release` writes and removes it; the exporter reads it
// (watch/gpu_releases.h) and answers in a file beside it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/finding.h"
#include "core/model/result.h"
#include "exporter/store/request_folder.h"

namespace gpuward::exporter {

struct ReleaseRequest {
  std::string who;      // "gpu-1-reset-x7k2p, pid 17"
  std::string why;      // "nvidia-smi --gpu-reset"
  std::string boot_id;  // the boot in which it is valid
  WallTime until;
};

class ReleaseRequests {
 public:
  explicit ReleaseRequests(const std::filesystem::path& state_folder)
      : path_(state_folder / "release.d"), folder_(path_) {}

  // Returns the file of the request. kUnavailable: it cannot be written.
  [[nodiscard]] Result<std::filesystem::path> leave(const ReleaseRequest& request,
                                                    WallTime now) const;
  struct Found {
    std::filesystem::path path;
    Result<ReleaseRequest> request;  // the error is the fault of the file
  };
  // Returns all requests, by name, at most 100. Follows no link, and rejects files of another user
  // than that of this process. Cheap if there is none.
  [[nodiscard]] std::vector<Found> read() const;
  // Removes request and answer. Not an error if they are gone.
  void remove(const std::filesystem::path& path) const;
  // Removes answers whose request is gone. Called when the exporter starts.
  void remove_old_answers() const;

 private:
  std::filesystem::path path_;
  RequestFolder folder_;
};

}  // namespace gpuward::exporter
