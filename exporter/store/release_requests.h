// Who wants the GPUs of this node for himself, such as a reset: a file in the state folder for each
// request, which lasts until its owner removes it, its time is over, or the node boots again.
// `gpuward-exporter gpu-release` leaves and removes it; the exporter reads it
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
  std::string boot_id;  // of the boot that it is for
  WallTime until;
};

class ReleaseRequests {
 public:
  explicit ReleaseRequests(const std::filesystem::path& state_folder)
      : path_(state_folder / "release.d"), folder_(path_) {}

  // The file of the request. kUnavailable: it cannot be written.
  [[nodiscard]] Result<std::filesystem::path> leave(const ReleaseRequest& request,
                                                    WallTime now) const;
  struct Found {
    std::filesystem::path path;
    Result<ReleaseRequest> request;  // an error: what is wrong with the file
  };
  // All that are there, by name, at most 100. Follows no link, and refuses files of another user
  // than that of this process. Cheap if there is none.
  [[nodiscard]] std::vector<Found> read() const;
  // Request and answer. No error if they are gone.
  void remove(const std::filesystem::path& path) const;
  // Removes answers whose request is gone. At the exporter's start.
  void remove_old_answers() const;

 private:
  std::filesystem::path path_;
  RequestFolder folder_;
};

}  // namespace gpuward::exporter
