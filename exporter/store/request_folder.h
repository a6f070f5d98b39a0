// Requests from a command to the exporter on this node: files in a folder of the state folder,
// which the exporter takes within a second. They are files and not a page of the web server,
// because a user who can write to that folder is already root on this node. Used for clearing
// findings, drills and releases of the GPUs.
#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/finding.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"

namespace gpuward::exporter {

class RequestFolder {
 public:
  explicit RequestFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Returns the file, which is gone once the request has been taken; `now` and the process make its
  // name. Creates the folder if it is missing; only its owner can access it.
  [[nodiscard]] Result<std::filesystem::path> leave(std::string_view text, WallTime now) const;

  // Returns the file in which the exporter answers the request at `path`.
  [[nodiscard]] static std::filesystem::path answer_to(const std::filesystem::path& path);

  struct Request {
    std::filesystem::path path;  // already removed
    std::string text;
  };
  struct Taken {
    std::vector<Request> requests;
    std::string fault;  // what could not be taken and why; empty if all was
  };
  // Removes what it returns, each request at most once: a request repeated at each start would
  // clear findings that no operator has seen yet. Cheap if there is none.
  [[nodiscard]] Taken take() const;

 private:
  std::filesystem::path folder_;
};

// Removes and returns the answer; empty: there was none within `limit` or before the stop.
[[nodiscard]] std::string wait_for_answer(const std::filesystem::path& answer,
                                          std::chrono::milliseconds limit, Clock& clock,
                                          const std::stop_token& stop = {});

}  // namespace gpuward::exporter
